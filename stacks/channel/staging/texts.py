"""Texts that a recipe has in itself, with the environment's path in some of them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Literal

import zstandard
from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.stage import Stage
from stacks.core.models import Line, RelativePath

PATHS = "info/paths.json"
COMPRESSION_LEVEL = 5


class Texts(Stage):
    """Texts; stacks/channel/offers.py makes their recipes."""

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
