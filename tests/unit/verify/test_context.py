"""What a context derives from its expectation and its framework."""

import importlib
from pathlib import Path
from types import SimpleNamespace

context = importlib.import_module("verify.context")


def test_there_may_be_no_compile_folder_yet(tmp_path: Path) -> None:
    framework = SimpleNamespace(flag={"base_compiledir": str(tmp_path / "none")}.get)
    copy = context.Context(framework, None, str(tmp_path), "").compile_folder("other")
    assert Path(copy).is_dir()


def test_a_copy_of_the_compile_folder(tmp_path: Path) -> None:
    (tmp_path / "compiled/module").mkdir(parents=True)
    (tmp_path / "compiled/compiledir_1/lock_dir").mkdir(parents=True)
    (tmp_path / "compiled/numba").symlink_to(tmp_path)
    framework = SimpleNamespace(flag={"base_compiledir": str(tmp_path / "compiled")}.get)
    copy = context.Context(framework, None, str(tmp_path), "").compile_folder("other")
    assert copy == str(tmp_path / "other") and (tmp_path / "other/module").is_dir()
    assert (tmp_path / "other/numba").is_symlink(), "numba's functions may be many"
    assert not list((tmp_path / "other/compiledir_1").iterdir()), "a copy holds no lock"
