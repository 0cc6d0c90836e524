"""Libraries out of wheels, and wheels linked to another library."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from stacks.errors import IntegrityError, UsageError
from stacks.recipe import Recipe, read_recipes
from stacks.staging import relinked, wheel_libraries
from stacks.staging.work import Work

RECIPE = {
    "package": {"name": "mkl", "version": "1"},
    "source": [{"project": "mkl", "version": "1", "file": "mkl.whl"}],
    "about": {"license": "x", "summary": "x"},
    "extra": {
        "stage": "wheel-libraries",
        "libraries": ["liba.so.1"],
        "links": {"liba.so": "liba.so.1"},
    },
}


def work(tmp_path: Path, *names: str) -> Work:
    with zipfile.ZipFile(tmp_path / "mkl.whl", "w") as archive:
        for name in names:
            archive.writestr(name, name)
    (tmp_path / "root").mkdir()
    recipe = Recipe.model_validate(RECIPE, strict=False)
    return Work(recipe, {"mkl.whl": tmp_path / "mkl.whl"}, tmp_path / "root", tmp_path, tmp_path)


def test_only_the_named_libraries_and_the_licences_are_taken(tmp_path: Path) -> None:
    made = work(
        tmp_path,
        "mkl-1.data/data/lib/liba.so.1",
        "mkl-1.data/data/lib/libb.so.1",
        "mkl-1.data/data/lib/sub/liba.so.1",
        "mkl-1.data/data/share/doc/mkl/licensing/third-party.txt",
        "mkl-1.dist-info/LICENSE.txt",
    )
    wheel_libraries.stage(made)
    assert sorted(str(p.relative_to(made.root)) for p in made.root.rglob("*") if p.is_file()) == [
        "lib/liba.so",
        "lib/liba.so.1",
        "share/licenses/mkl/LICENSE.txt",
        "share/licenses/mkl/third-party.txt",
    ]
    assert (made.root / "lib/liba.so.1").read_text() == "mkl-1.data/data/lib/liba.so.1"
    assert (made.root / "lib/liba.so").readlink() == Path("liba.so.1")


def test_a_library_that_the_wheel_has_no_more_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no library liba\.so\.1 in the recipe's wheels"):
        wheel_libraries.stage(work(tmp_path, "mkl-1.data/data/lib/libb.so.1"))


def test_a_wheel_that_needs_another_library_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "m.so"
    module.write_bytes(b"\0libother.so\0")
    with pytest.raises(IntegrityError, match="cannot be written over"):
        relinked._relink(module, "libopenblasp-r0-1.so", tmp_path / "renames")


def test_every_libblas_offers_the_renamed_functions() -> None:
    fronts = {n: r.extra for n, r in read_recipes().items() if r.package.name == "libblas"}
    assert sorted(fronts) == ["libblas-blis", "libblas-mkl", "libblas-openblas"]
    for extra in fronts.values():
        assert extra.stage == "front-libraries"
        given = {new for names in extra.functions.values() for new in names.values()}
        assert given >= set(relinked.GFORTRAN.values())
