from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel.staging import fortran_wheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.elf import PATCHELF, needed
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from unit.helpers.staging import elf_library, tree, wheel_context

EXTRA = {"stage": "fortran-wheel", "site_packages": "lib/site-packages"}
FORTRAN, QUAD = "libgfortran-040039e1-0352e75f.so.5.0.0", "libquadmath-96973f99.so.0.0.0"
OLD = "libgfortran-ed201abd.so.3.0.0"
GPL = "BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1"


def context_of(
    tmp_path: Path, *names: str, run: str = "libgcc-runtime >=10", license: str = "BSD-3-Clause"
) -> BuildContext:
    """Return the context of a wheel whose one module needs copies of these libraries."""
    module = tmp_path / "m.so"
    module.write_bytes(elf_library())
    if names:
        call([PATCHELF, *(word for name in names for word in ("--add-needed", name)), module])
    files = {"a/m.so": module.read_bytes()}
    context = wheel_context(tmp_path, EXTRA, files | {f"a.libs/{n}": b"" for n in names})
    about = context.recipe.about.model_copy(update={"license": license})
    requirements = context.recipe.requirements.model_copy(update={"run": (run,)})
    update = {"about": about, "requirements": requirements}
    return replace(context, recipe=context.recipe.model_copy(update=update))


def test_modules_load_the_libraries_of_libgcc_runtime(tmp_path: Path) -> None:
    context = context_of(tmp_path, FORTRAN, QUAD)
    fortran_wheel.stage(context)
    folder = context.root / "lib/site-packages"
    assert tree(folder / "a") == ["m.so"]
    assert not (folder / "a.libs").exists()
    assert {"libgfortran.so.5", "libquadmath.so.0"} <= set(needed(folder / "a/m.so"))
    record = (folder / "a-1.dist-info/RECORD").read_text()
    assert "a/m.so,sha256=" in record and "libgfortran" not in record


def test_a_recipe_without_libgcc_runtime_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"its modules need libgfortran\.so\.5"):
        fortran_wheel.stage(context_of(tmp_path, FORTRAN, run="six"))


def test_a_wheel_without_a_copy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="no copy of libgfortran"):
        fortran_wheel.stage(context_of(tmp_path))


def test_a_copy_of_another_version_stays_and_its_licence_is_named(tmp_path: Path) -> None:
    context = context_of(tmp_path, OLD, license=GPL)
    (context.root / OLD).touch()
    assert not fortran_wheel.use_libgcc_runtime(context.root, context.recipe)
    assert (context.root / OLD).exists()


def test_a_copy_of_another_version_without_its_licence_is_refused(tmp_path: Path) -> None:
    context = context_of(tmp_path, OLD)
    (context.root / OLD).touch()
    with pytest.raises(IntegrityError, match=r"libgfortran-ed201abd\.so\.3\.0\.0 is GCC's"):
        fortran_wheel.use_libgcc_runtime(context.root, context.recipe)


def test_a_name_that_is_there_twice_is_not_overwritten(tmp_path: Path) -> None:
    module = tmp_path / "m.so"
    module.write_bytes(b"\0libold.so.1\0\0libold.so.1\0")
    with pytest.raises(IntegrityError, match="the name libold"):
        fortran_wheel.overwrite_name(module, "libold.so.1", "lib.so.1")
