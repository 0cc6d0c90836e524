"""The wheels of NumPy and SciPy, whose modules call the environment's BLAS."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.build_context import BuildContext
from stacks.channel.recipe import read_recipes
from stacks.channel.staging import relinked_wheel
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.elf import imported, needed
from stacks.channel.staging.libraries import FrontLibraries
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from unit.helpers.staging import elf_library, elf_with, make, make_context, tree

SITE = "lib/python3.9/site-packages"
BLAS = "libscipy_openblas-1a2b3c4d.so"
SCIPY = {
    "stage": "relinked-wheel",
    "site_packages": SITE,
    "replaces": BLAS,
    "prefix": "scipy_",
    "leave_out": ["scipy/**/tests"],
    "edits": [{"file": "scipy/a.py", "old": "one", "new": "two"}],
    "licences": ["LICENSE-a-2"],
}
SRC = {"LICENSE-a-1": "1", "LICENSE-a-2": "2"}
MESON = """\
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
MESON_AFTER = """\
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
DISTUTILS = "import x\nblas_info={'a': 1}\nlapack_info = {}\ndef show():\n    pass\n"


def scipy(
    tmp_path: Path,
    *functions: str,
    reference: tuple[str, ...] = ("dgemm_", "dgesv_"),
    more: Mapping[str, str | bytes] | None = None,
    **options: object,
) -> BuildContext:
    """Return the context of a wheel whose module calls functions by names with SciPy's prefix.

    reference: the functions in the library of a deb. more: further files. options: of the stage.
    """
    names = [f"scipy_{name}" for name in functions]
    files: dict[str, str | bytes] = {
        "scipy/linalg/m.so": elf_with(imports=names, needs=[BLAS]),
        f"scipy.libs/{BLAS}": elf_with(exports=names, needs=["libonly_for_it.so"]),
        "scipy.libs/libonly_for_it.so": elf_library(),
        "scipy/__config__.py": MESON,
        "scipy/a.py": "one",
        "scipy/linalg/tests/t.py": "",
    }
    library = {f"usr/lib/{MULTIARCH}/blas/libblas.so.3": elf_with(exports=reference)}
    return make_context(
        tmp_path, {**SCIPY, **options}, wheel={**files, **(more or {})}, src=SRC,
        debs={"libblas3": library},
    )  # fmt: skip


def test_scipys_modules_call_the_environments_libblas_by_its_names(tmp_path: Path) -> None:
    root = make(scipy(tmp_path, "dgemm_", "zdotc_", "dgesv_"))
    assert tree(root / SITE / "scipy") == ["__config__.py", "a.py", "linalg/m.so"]
    module = root / SITE / "scipy/linalg/m.so"
    # Another convention than MKL's: see recipes/libblas.
    assert {"dgemm_", "zdotcg", "dgesv_"} <= set(imported(module))
    assert not [name for name in imported(module) if name.startswith("scipy_")]
    assert "libblas.so.3" in needed(module)
    assert not (root / SITE / "scipy.libs").exists()
    assert (root / SITE / "scipy/__config__.py").read_text() == MESON_AFTER
    assert (root / SITE / "scipy/a.py").read_text() == "two"
    # All versions of a package share the folder of licences; debs that are only read have none.
    assert tree(root / "share") == ["licenses/a/LICENSE-a-2"]
    record = (root / SITE / "a-1.dist-info/RECORD").read_text()
    digest = base64.urlsafe_b64encode(hashlib.sha256(module.read_bytes()).digest()).decode()
    row = f"scipy/linalg/m.so,sha256={digest.rstrip('=')},{module.stat().st_size}\n"
    assert row in record


def test_the_configuration_of_distutils_names_libblas(tmp_path: Path) -> None:
    root = make(scipy(tmp_path, "dgemm_", more={"scipy/__config__.py": DISTUTILS}))
    config = (root / SITE / "scipy/__config__.py").read_text()
    assert "{'a': 1}" not in config and '"libraries": ["cblas", "blas"]' in config


def test_numpys_modules_keep_the_names_of_functions_with_long_integers(tmp_path: Path) -> None:
    context = scipy(
        tmp_path, "a64_", reference=("scipy_a64_",), library="libblas_64.so.1", prefix=""
    )
    module = make(context) / SITE / "scipy/linalg/m.so"
    assert "scipy_a64_" in imported(module)
    assert "libblas_64.so.1" in needed(module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": ("dgesv_",)}, r"(?s)its modules call dgemm_\n.*libblas3"),
        ({"more": {f"a/{BLAS}": b""}}, f"{BLAS} 2 times"),
        ({"replaces": "libnone.so"}, r"no module needs libnone\.so"),
        ({"leave_out": ["scipy/none"]}, r"the wheel has no scipy/none"),
        ({"more": {"scipy/a.py": "three"}}, r"a\.py is not the file that the recipe"),
    ],
)
def test_a_wheel_that_cannot_be_relinked(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        make(scipy(tmp_path, "dgemm_", **options))


def test_every_libblas_has_the_renamed_functions(workspace: Workspace) -> None:
    recipes = read_recipes(workspace.recipes)
    fronts = {n: r for n, r in recipes.items() if r.package.name == "libblas"}
    assert sorted(fronts) == ["libblas-blis", "libblas-mkl", "libblas-openblas"]
    for recipe in fronts.values():
        if isinstance(recipe.extra, FrontLibraries):
            served = {new for names in recipe.extra.functions.values() for new in names.values()}
        else:
            [source] = [path for path in recipe.project_files() if path.suffix == ".c"]
            served = set(re.findall(r"^(?:DOT|DIVIDE)\((\w+),", source.read_text(), re.MULTILINE))
        assert served >= set(relinked_wheel.GFORTRAN.values())
