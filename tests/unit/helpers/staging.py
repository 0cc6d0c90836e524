"""Build contexts for the tests of stages."""

from __future__ import annotations

import importlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.channel.recipe import Recipe
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.elf import PATCHELF, exported, imported
from stacks.core.process import call
from unit.helpers.archives import deb, member

WHEEL = "a-1-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: a\nVersion: 1\n"
# A compiler that writes a real library, whatever it gets, and records its arguments and variables.
GCC = """\
#!/bin/sh
{{ echo "$PWD"; echo "$@"; env; }} >> "{log}"
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then cp "{library}" "$2"; fi
    shift
done
"""


def make_context(
    tmp_path: Path, extra: Mapping[str, Any], source: list[Any], sources: dict[str, Path]
) -> BuildContext:
    """Return the context of a package `a`, with new folders and its recipe below tmp_path."""
    content = {
        "package": {"name": "a", "version": "1"},
        "source": source,
        "about": {"license": "MIT", "summary": "a", "republish": "yes"},
        "extra": extra,
    }
    recipe = Recipe.model_validate_json(json.dumps(content)).model_copy(
        update={"recipes": tmp_path / "recipes"}
    )
    for folder in ("root", "scratch"):
        (tmp_path / folder).mkdir()
    folders = [tmp_path / name for name in ("root", "scratch", "tools")]
    return BuildContext(recipe, sources, *folders)


def wheel_context(
    tmp_path: Path, extra: Mapping[str, Any], files: Mapping[str, str | bytes]
) -> BuildContext:
    """Return the context of a package whose one source is a wheel with these and METADATA."""
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as archive:
        for name, content in {"a-1.dist-info/METADATA": METADATA, **files}.items():
            archive.writestr(name, content)
    source = [{"project": "a", "version": "1", "file": WHEEL}]
    return make_context(tmp_path, extra, source, {WHEEL: tmp_path / WHEEL})


def deb_context(
    tmp_path: Path, extra: Mapping[str, Any], files: Mapping[str, bytes]
) -> BuildContext:
    """Return the context of a package whose one source is a deb `liba` with these files."""
    members = [(member(f"./{name}", mode=0o644), content) for name, content in files.items()]
    path = deb(tmp_path / "liba.deb", *members, suffix="", compress=bytes)
    source = [{"suite": "bullseye", "debs": ["liba"]}]
    return make_context(tmp_path, extra, source, {"liba": path})


def elf_library(module: str = "markupsafe._speedups") -> bytes:
    """Return a shared library of the test environment; the default exports PyInit__speedups."""
    path = importlib.import_module(module).__file__
    assert path
    return Path(path).read_bytes()


def elf_with(
    folder: Path, *, exports: Sequence[str] = (), imports: Sequence[str] = (), needs: str = ""
) -> bytes:
    """Return a shared library that defines and takes functions of these names, and needs another.

    They are renamed ones of a library of the test environment, which has more of both.
    """
    path = folder / "library.so"
    path.write_bytes(elf_library("psutil._psutil_linux"))
    defined = [name for name in exported(path) if name.startswith("psutil_")]
    taken = [name for name in imported(path) if name.startswith("Py")]
    pairs = [*zip(defined, exports, strict=False), *zip(taken, imports, strict=False)]
    assert len(pairs) == len(exports) + len(imports)
    (renames := folder / "names").write_text("".join(f"{old} {new}\n" for old, new in pairs))
    need = ["--add-needed", needs] if needs else []
    call([PATCHELF, "--rename-dynamic-symbols", renames, *need, path])
    return path.read_bytes()


def write_gcc(context: BuildContext) -> Path:
    """Write a gcc that outputs elf_library() to the context's tools; return the path of its log."""
    library, log = context.tools.with_name("gcc.so"), context.tools.with_name("gcc.log")
    library.write_bytes(elf_library())
    gcc = context.tools / "bin/gcc"
    gcc.parent.mkdir(parents=True)
    gcc.write_text(GCC.format(log=log, library=library))
    gcc.chmod(0o755)
    return log


def tree(root: Path) -> list[str]:
    """Return the sorted paths of the files and links below a folder."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())
