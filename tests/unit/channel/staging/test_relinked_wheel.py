from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel.recipe import Debs, read_recipes
from stacks.channel.stages import FrontLibraries
from stacks.channel.staging import relinked_wheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.elf import PATCHELF, imported, needed
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from unit.helpers.archives import deb, member
from unit.helpers.staging import elf_library, elf_with, tree, wheel_context

OPENBLAS = "libopenblasp-r0-1.so"
EXTRA = {
    "stage": "relinked-wheel",
    "site_packages": "lib/site-packages",
    "replaces": OPENBLAS,
    "leave_out": ["numpy/tests"],
    "edits": [{"file": "numpy/a.py", "old": "one", "new": "two"}],
}
SCIPY_OPENBLAS = "libscipy_openblas-1a2b3c4d.so"
SCIPY = {
    "stage": "relinked-wheel",
    "site_packages": "lib/site-packages",
    "replaces": SCIPY_OPENBLAS,
    "prefix": "scipy_",
}
MESON_CONFIG = """\
CONFIG = {
    "blas": {
        "name": "scipy-openblas",
        "found": True,
        "version": "0.3",
        "lib directory": r"/opt/lib",
        "has ilp64": False,
    },
    "lapack": {
        "name": "scipy-openblas",
        "found": True,
        "version": "0.3",
    },
    "pybind11": {"name": "pybind11", "version": "3"},
}
"""
MESON_CONFIG_AFTER = """\
CONFIG = {
    "blas": {
        "name": "libblas",
        "found": True,
        "has ilp64": False,
    },
    "lapack": {
        "name": "libblas",
        "found": True,
    },
    "pybind11": {"name": "pybind11", "version": "3"},
}
"""
CONFIG = "import x\nblas_info={'a': 1}\nlapack_info = {}\ndef show():\n    pass\n"


def test_a_wheel_is_linked_to_libblas(tmp_path: Path) -> None:
    module = tmp_path / "m.so"
    module.write_bytes(elf_library())
    call([PATCHELF, "--add-needed", OPENBLAS, module])
    files = {
        "numpy/core/m.so": module.read_bytes(),
        f"numpy/.libs/{OPENBLAS}": elf_library(),
        "numpy/a.py": b"one",
        "numpy/tests/t.py": b"",
        "numpy/__config__.py": CONFIG.encode(),
    }
    context = wheel_context(tmp_path, EXTRA, files)
    relinked_wheel.stage(context)
    folder = context.root / "lib/site-packages/numpy"
    assert tree(folder) == ["__config__.py", "a.py", "core/m.so"]
    assert "libblas.so.3" in needed(folder / "core/m.so")
    assert (folder / "a.py").read_text() == "two"
    record = (folder.parent / "a-1.dist-info/RECORD").read_text()
    for path in (folder / "a.py", folder / "core/m.so", folder / "__config__.py"):
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()
        name = path.relative_to(folder.parent)
        assert f"{name},sha256={digest.rstrip('=')},{path.stat().st_size}\n" in record
    assert len(record.splitlines()) == 6 and OPENBLAS not in record
    config = (folder / "__config__.py").read_text()
    assert "{'a': 1}" not in config and '"libraries": ["cblas", "blas"]' in config


def scipy_wheel(folder: Path, *functions: str) -> dict[str, bytes]:
    """Return the files of a wheel whose module calls functions by names with SciPy's prefix."""
    names = [f"scipy_{name}" for name in functions]
    return {
        "scipy/linalg/m.so": elf_with(folder, imports=names, needs=SCIPY_OPENBLAS),
        f"scipy.libs/{SCIPY_OPENBLAS}": elf_with(folder, exports=names),
        "scipy/__config__.py": MESON_CONFIG.encode(),
    }


def with_reference(tmp_path: Path, context: BuildContext, *functions: str) -> BuildContext:
    """Return the context of a recipe with a deb, whose library has these functions."""
    path = f"./usr/lib/{MULTIARCH}/blas/libblas.so.3"
    file = deb(
        tmp_path / "libblas3.deb",
        (member(path, mode=0o644), elf_with(tmp_path, exports=functions)),
        suffix="",
        compress=bytes,
    )
    source = (*context.recipe.source, Debs(suite="bullseye", debs=("libblas3",)))
    recipe = context.recipe.model_copy(update={"source": source})
    return replace(context, recipe=recipe, sources={**context.sources, "libblas3": file})


def test_scipys_modules_call_functions_by_their_common_names(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, SCIPY, scipy_wheel(tmp_path, "dgemm_", "zdotc_", "dgesv_"))
    relinked_wheel.stage(with_reference(tmp_path, context, "dgemm_", "dgesv_", "zdotc_"))
    folder = context.root / "lib/site-packages"
    module = folder / "scipy/linalg/m.so"
    # Another convention than MKL's: see recipes/libblas.
    assert {"dgemm_", "zdotcg", "dgesv_"} <= set(imported(module))
    assert not [name for name in imported(module) if name.startswith("scipy_")]
    assert "libblas.so.3" in needed(module)
    assert not (folder / "scipy.libs").exists()
    config = (folder / "scipy/__config__.py").read_text()
    assert config == MESON_CONFIG_AFTER


def test_a_function_that_no_flavour_has_is_named(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, SCIPY, scipy_wheel(tmp_path, "dgemm_", "dgenew_", "zdotc_"))
    with pytest.raises(IntegrityError, match=r"its modules call dgenew_\n") as error:
        relinked_wheel.stage(with_reference(tmp_path, context, "dgemm_"))
    assert "libblas3" in str(error.value)


def test_numpys_modules_keep_the_names_of_functions_with_long_integers(tmp_path: Path) -> None:
    extra = SCIPY | {"library": "libblas_64.so.1", "prefix": ""}
    context = wheel_context(tmp_path, extra, scipy_wheel(tmp_path, "cblas_dgemm64_"))
    relinked_wheel.stage(context)
    module = context.root / "lib/site-packages/scipy/linalg/m.so"
    assert "scipy_cblas_dgemm64_" in imported(module)
    assert "libblas_64.so.1" in needed(module)


def test_a_wheel_with_two_copies_of_the_library_is_refused(tmp_path: Path) -> None:
    files = scipy_wheel(tmp_path, "dgemm_")
    context = wheel_context(tmp_path, SCIPY, {**files, f"a/{SCIPY_OPENBLAS}": b""})
    with pytest.raises(IntegrityError, match=f"{SCIPY_OPENBLAS} 2 times"):
        relinked_wheel.stage(context)


def test_a_wheel_without_a_module_to_relink_is_refused(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, EXTRA | {"replaces": "libnone.so"}, {"numpy/a.py": "one"})
    with pytest.raises(IntegrityError, match=r"no module needs libnone\.so"):
        relinked_wheel.stage(context)


def test_every_libblas_has_the_renamed_functions(workspace: Workspace) -> None:
    recipes = read_recipes(workspace.recipes)
    fronts = {n: r for n, r in recipes.items() if r.package.name == "libblas"}
    assert sorted(fronts) == ["libblas-blis", "libblas-mkl", "libblas-openblas"]
    for recipe in fronts.values():
        if isinstance(recipe.extra, FrontLibraries):
            served = {new for names in recipe.extra.functions.values() for new in names.values()}
        else:
            [source] = [path for path in recipe.own_sources() if path.suffix == ".c"]
            served = set(re.findall(r"^(?:DOT|DIVIDE)\((\w+),", source.read_text(), re.MULTILINE))
        assert served >= set(relinked_wheel.GFORTRAN.values())


def test_a_file_to_leave_out_must_exist(tmp_path: Path) -> None:
    (tmp_path / "scipy/linalg/tests").mkdir(parents=True)
    (tmp_path / "scipy/linalg/tests/test_it.py").touch()
    (tmp_path / "scipy/linalg/_simd.so").touch()
    relinked_wheel._leave_out(tmp_path, "scipy/**/tests")
    relinked_wheel._leave_out(tmp_path, "scipy/linalg/_simd.*")
    assert list((tmp_path / "scipy/linalg").iterdir()) == []
    with pytest.raises(IntegrityError, match=r"the wheel has no scipy/\*\*/tests"):
        relinked_wheel._leave_out(tmp_path, "scipy/**/tests")
