"""Packages made of small sources, for the tests of stages."""

import importlib
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stacks.channel.build_context import BuildContext
from stacks.channel.recipe import Recipe
from stacks.channel.staging.elf import PATCHELF, exported, imported, needed
from stacks.channel.staging.python_packages import Wheel
from stacks.core.process import call
from unit.helpers.archives import deb, member, source_archive, tar
from unit.helpers.environments import add

WHEEL, SDIST = "a-1-py3-none-any.whl", "a-1.tar.gz"
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
# The content of a file in a source; a path is a link to it.
Content = str | bytes | Path


def make_context(
    tmp_path: Path,
    extra: Mapping[str, Any],
    *,
    wheel: Mapping[str, str | bytes] | None = None,
    sdist: Mapping[str, Content] | None = None,
    debs: Mapping[str, Mapping[str, Content]] | None = None,
    src: Mapping[str, str] | None = None,
    archives: Mapping[str, Path] | None = None,
    **recipe: Any,
) -> BuildContext:
    """Return the context of a package `a` made of sources with these files, below tmp_path.

    wheel: it gets METADATA. debs: the files of each deb. src: the project's files. archives: files
    of source packages by their names; the recipe names the packages. recipe: further keys of it.
    """
    tmp_path.mkdir(exist_ok=True)
    source, sources = [*recipe.pop("source", ())], dict(archives or {})
    if wheel is not None:
        sources[WHEEL] = tmp_path / WHEEL
        with zipfile.ZipFile(sources[WHEEL], "w") as archive:
            for name, content in {"a-1.dist-info/METADATA": METADATA, **wheel}.items():
                archive.writestr(name, content)
        source.append({"project": "a", "version": "1", "file": WHEEL})
    if sdist is not None:
        sources[SDIST] = tmp_path / SDIST
        sources[SDIST].write_bytes(tar(*_members(sdist)))
        source.append({"project": "a", "version": "1", "file": SDIST})
    for name, files in (debs or {}).items():
        sources[name] = deb(tmp_path / f"{name}.deb", *_members(files), suffix="", compress=bytes)
    if debs:
        source.append({"suite": "bullseye", "debs": [*debs]})
    data = {
        "package": {"name": "a", "version": recipe.pop("version", "1")},
        "source": source,
        "about": {"license": recipe.pop("license", "MIT"), "summary": "a", "republish": "yes"},
        "extra": extra,
        **recipe,
    }
    for name, text in (src or {}).items():
        add(tmp_path / "recipes/a/src", name, text)
    made = Recipe.model_validate_json(json.dumps(data)).model_copy(
        update={"recipes": tmp_path / "recipes"}
    )
    folders = [tmp_path / name for name in ("root", "scratch", "tools")]
    for folder in folders[:2]:
        folder.mkdir()
    return BuildContext(made, sources, *folders)


def make(context: BuildContext) -> Path:
    """Have the stage of the context's recipe make its files; return their folder."""
    assert isinstance(context.recipe, Recipe)
    context.recipe.extra.make(context)
    return context.root


def written_by(recipe: Recipe, write: Callable[[BuildContext], Any], **options: Any) -> Recipe:
    """Return the recipe with a stage that this function is; options: of the stage `wheel`."""

    class Written(Wheel):
        def write(self, context: BuildContext) -> Path:
            made: Path = write(context)
            return made

    return recipe.model_copy(update={"extra": Written(stage="wheel", **options)})


def _members(files: Mapping[str, Content]) -> list[tuple[tarfile.TarInfo, bytes]]:
    members = []
    for name, content in files.items():
        if isinstance(content, Path):
            members.append((member(f"./{name}", tarfile.SYMTYPE, str(content)), b""))
        else:
            data = content.encode() if isinstance(content, str) else content
            members.append((member(f"./{name}", mode=0o755), data))
    return members


def elf_library(module: str = "markupsafe._speedups") -> bytes:
    """Return a shared library of the test environment; the default exports PyInit__speedups."""
    path = importlib.import_module(module).__file__
    assert path
    return Path(path).read_bytes()


def elf_with(
    *, exports: Sequence[str] = (), imports: Sequence[str] = (), needs: Sequence[str] = ()
) -> bytes:
    """Return a shared library that defines and takes functions of these names, and needs others.

    They are renamed ones of a library of the test environment, which has more of both.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, renames = Path(folder) / "library.so", Path(folder) / "names"
        path.write_bytes(elf_library("psutil._psutil_linux"))
        defined = [name for name in exported(path) if name.startswith("psutil_")]
        taken = [name for name in imported(path) if name.startswith("Py")]
        pairs = [*zip(defined, exports, strict=False), *zip(taken, imports, strict=False)]
        assert len(pairs) == len(exports) + len(imports)
        renames.write_text("".join(f"{old} {new}\n" for old, new in pairs))
        options = [word for name in needs for word in ("--add-needed", name)]
        call([PATCHELF, "--rename-dynamic-symbols", renames, *options, path])
        return path.read_bytes()


def write_gcc(context: BuildContext) -> Path:
    """Write a gcc that outputs elf_library() to the context's tools; return the path of its log."""
    library, log = context.tools.with_name("gcc.so"), context.tools.with_name("gcc.log")
    library.write_bytes(elf_library())
    add(context.tools, "bin/gcc", GCC.format(log=log, library=library), 0o755)
    return log


def tree(root: Path) -> list[str]:
    """Return the sorted paths of the files and links below a folder."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


@dataclass(frozen=True)
class Made:
    """A package: `extra`, its sources as make_context takes them, and what is made of it.

    files: their paths. needs: the first libraries that a file needs. texts: what is in a file.
    rpaths: the RPATH of a file.
    """

    extra: Mapping[str, Any]
    given: Mapping[str, Any]
    files: str
    needs: Mapping[str, list[str]] = field(default_factory=dict)
    texts: Mapping[str, list[str]] = field(default_factory=dict)
    rpaths: Mapping[str, str] = field(default_factory=dict)

    def check(self, folder: Path) -> None:
        """Make the package, and compare."""
        root = make(with_compiler(folder, self.extra, self.given))
        assert " ".join(tree(root)) == self.files
        for name, libraries in self.needs.items():
            assert needed(root / name)[: len(libraries)] == libraries
        for name, texts in self.texts.items():
            content = (root / name).read_text()
            assert not [text for text in texts if text not in content], content
        for name, rpath in self.rpaths.items():
            assert call([PATCHELF, "--print-rpath", root / name]).strip() == rpath


def with_compiler(folder: Path, extra: Mapping[str, Any], given: Mapping[str, Any]) -> BuildContext:
    """Return the context of a package, with a compiler that writes a real library."""
    given = dict(given)
    if upstream := given.pop("upstream", None):
        archive = source_archive(folder / "b_1.orig.tar.xz", upstream)
        given["archives"] = {archive.name: archive}
    context = make_context(folder, extra, **given)
    write_gcc(context)
    return context
