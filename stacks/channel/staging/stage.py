"""What all stages share: links, licences, RPATHs and their record; and the stage of texts."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import zstandard
from pydantic import Field

from stacks.channel.build_context import BuildContext, Header
from stacks.channel.staging.debian import copy_licences
from stacks.channel.staging.elf import elf_files, set_rpath
from stacks.channel.staging.tree import check_links, replace_once, write_record
from stacks.core.models import FileName, Line, RelativePath, Strict

LICENCE = "LICENSE-"


class Stage(Strict, ABC):
    """A way to make a package's files: a recipe's `extra`, whose other keys are these fields.

    A subclass has its name in recipes as the literal type of its field `stage`, its options as
    fields, and `write`; stacks/channel/staging/__init__.py lists it.

    revision: raised by one when the files change on purpose. It is in the names of the packages,
    which the code is not.
    takes_src: whether the files of the recipe's folder src/ are among its sources.
    rpath: folders of the prefix in which ELF files look for libraries; none leaves the RPATH alone.
    """

    revision: ClassVar[int] = 1
    takes_src: ClassVar[bool] = False
    rpath: ClassVar[tuple[str, ...]] = ()

    links: dict[FileName, RelativePath] = Field(
        default={}, description="link in lib/: its target there, or in that of a required package"
    )

    @abstractmethod
    def write(self, context: BuildContext) -> Path | None:
        """Write the files below `context.root`; return the dist-info folder of a Python package.

        Raises IntegrityError where a source has other files than expected, UsageError where the
        recipe asks for what the sources lack, CommandError where a compiler fails.
        """

    def make(self, context: BuildContext) -> None:
        """Write the files, then what most packages have: links, licences, RPATHs and RECORD.

        Raises what `write` raises, and IntegrityError for a link that leads out of the package, and
        a deb without its licence.
        """
        context.licences.mkdir(parents=True)
        dist_info = self.write(context)
        check_links(context.root)
        for name, target in self.links.items():
            (context.lib / name).symlink_to(target)
        for path in self.project_files(context.recipe):
            if path.name.startswith(LICENCE):
                shutil.copyfile(path, context.licences / path.name)
        if context.unpacked.is_dir():
            copy_licences(context.unpacked, context, self.debs_of_tools())
        if folders := self.search_path():
            set_rpath(elf_files(context.root), *(context.root / folder for folder in folders))
        if dist_info:
            # Last: it has the hash of every file.
            write_record(context.root, dist_info)

    def complete(self, package: Path) -> None:
        """Complete the metadata in the .conda file of the package."""

    def project_files(self, recipe: Header) -> list[Path]:
        """Return the files of a recipe's folder src/ of which the package is made, sorted.

        Bytecode beside Python files is not one of them.
        """
        if not self.takes_src:
            return []
        files = (path for path in recipe.src.rglob("*") if path.is_file())
        return sorted(path for path in files if path.suffix not in (".pyc", ".pyo"))

    def code(self, context: BuildContext) -> list[Path]:
        """Return the project's files without their licences."""
        files = self.project_files(context.recipe)
        return [path for path in files if not path.name.startswith(LICENCE)]

    def debs_of_tools(self) -> Sequence[str]:
        """Return the debs of which nothing is in the package, because they only build it."""
        return ()

    def search_path(self) -> Sequence[str]:
        """Return the folders of the prefix for the RPATH of the package's ELF files."""
        return self.rpath


class Edit(Strict):
    """The replacement of a text that occurs once in a file of Python code."""

    file: RelativePath = Field(description="below the folder of packages, or of Python's library")
    old: str
    new: str

    def apply(self, folder: Path) -> None:
        """Replace the text in the file; IntegrityError unless it occurs exactly once."""
        fix = "correct `extra.edits` in the recipe"
        replace_once(folder / self.file, self.old.encode(), self.new.encode(), fix)


PATHS = "info/paths.json"
COMPRESSION_LEVEL = 5


class Texts(Stage):
    """Texts; stacks/channel/candidates.py makes their recipes."""

    stage: Literal["texts"]
    files: dict[RelativePath, str]
    placeholder: Line = Field(description="what an installation replaces by its path in the texts")

    def write(self, context: BuildContext) -> None:
        """Write the texts to their paths."""
        for name, text in self.files.items():
            path = context.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def complete(self, package: Path) -> None:
        """Write in the package's metadata which of its texts have the placeholder.

        The writer of packages looks for the path of a folder of its own, which is no fixed one.
        """
        with zipfile.ZipFile(package) as archive:
            members = [(each, archive.read(each)) for each in archive.infolist()]
        names = {name for name, text in self.files.items() if self.placeholder in text}
        # Copies of the members' own records: they have no time of this machine.
        with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
            for member, data in members:
                if member.filename.startswith("info-"):
                    data = _declared(data, names, self.placeholder)
                archive.writestr(member, data)


def _declared(data: bytes, names: set[str], placeholder: str) -> bytes:
    """Return a compressed info archive whose paths.json names the files with a placeholder."""
    out = io.BytesIO()
    source = io.BytesIO(zstandard.ZstdDecompressor().decompressobj().decompress(data))
    with tarfile.open(fileobj=source) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            file = old.extractfile(member)
            content = file.read() if file else b""
            if member.name == PATHS:
                paths = json.loads(content)
                for entry in paths["paths"]:
                    if entry["_path"] in names:
                        entry |= {"prefix_placeholder": placeholder, "file_mode": "text"}
                content = json.dumps(paths, indent=2).encode()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, threads=0).compress(out.getvalue())
