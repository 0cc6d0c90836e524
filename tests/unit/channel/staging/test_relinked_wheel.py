from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from stacks.channel.recipe import read_recipes
from stacks.channel.stages import FrontLibraries
from stacks.channel.staging import relinked_wheel
from stacks.channel.staging.elf import PATCHELF, needed
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from unit.helpers.staging import elf_library, tree, wheel_context

OPENBLAS = "libopenblasp-r0-1.so"
EXTRA = {
    "stage": "relinked-wheel",
    "site_packages": "lib/site-packages",
    "replaces": OPENBLAS,
    "leave_out": ["numpy/tests"],
    "edits": [{"file": "numpy/a.py", "old": "one", "new": "two"}],
}
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


def test_a_wheel_with_two_copies_of_the_library_is_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / OPENBLAS).touch()
    with pytest.raises(IntegrityError, match=r"libopenblasp-r0-1\.so 2 times"):
        relinked_wheel._remove_library(tmp_path, OPENBLAS)


def test_a_module_that_needs_no_such_library_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "m.so"
    module.write_bytes(b"\0libother.so\0")
    with pytest.raises(IntegrityError, match=r"libopenblasp-r0-1\.so cannot be overwritten"):
        relinked_wheel._relink(module, OPENBLAS, tmp_path / "renames")


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
