"""Where frameworks compile, and what is kept of that."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from stacks.core.disk import REPOSITORY

compiling = importlib.import_module("verify.core.configuration")

BYTECODE = """
import os, sys
sys.path[:0] = [SUITE, os.getcwd()]
from verify.core import configuration
configuration.keep_bytecode(os.path.join(os.getcwd(), "kept"))
import theano
print(sys.pycache_prefix == os.environ.get("PYTHONPYCACHEPREFIX"), theano.__cached__)
"""


def test_bytecode_is_kept_where_the_environment_has_none(tmp_path: Path) -> None:
    (tmp_path / "theano.py").touch()
    script = BYTECODE.replace("SUITE", repr(str(REPOSITORY)))

    def run(*words: str) -> str:
        command = [sys.executable, "-I", *words]
        return subprocess.check_output(command, cwd=tmp_path, text=True).strip()

    kept = f"{tmp_path}/kept{tmp_path}/theano.{sys.implementation.cache_tag}.pyc"
    assert run("-c", script) == f"True {kept}"
    assert Path(kept).is_file() and not (tmp_path / "__pycache__").exists()
    run("-m", "compileall", "-q", "theano.py")
    Path(kept).unlink()
    own = tmp_path / f"__pycache__/theano.{sys.implementation.cache_tag}.pyc"
    assert run("-c", script) == f"True {own}"
    assert not Path(kept).exists()


@pytest.mark.parametrize("place", ["flags", "file"])
def test_a_persons_own_compile_folder_is_not_used(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("[global]\ncompiledir = /mine\n" if place == "file" else "")
    monkeypatch.setenv("AESARARC", f"{tmp_path}/none:{tmp_path}/rc")
    monkeypatch.setenv("AESARA_FLAGS", "compiledir=/mine" if place == "flags" else "")
    compiling.use_compile_folder("/tmp/a", ["aesara"])
    flags = os.environ["AESARA_FLAGS"]
    assert flags.endswith("base_compiledir=/tmp/a,compiledir=/tmp/a/compiledir")


def test_what_numba_compiles_is_kept(tmp_path: Path) -> None:
    verified = compiling.verified_modules({"verified": str(tmp_path / "cache")})
    for name in ("first", "second"):
        compiling.keep_numba(str(tmp_path / name), verified)
        (tmp_path / name / "numba" / name).touch()
    assert sorted(path.name for path in Path(verified, "numba").iterdir()) == ["first", "second"]
    (tmp_path / "file").touch()
    compiling.keep_numba(str(tmp_path / "third"), str(tmp_path / "file/gone"))
    assert not (tmp_path / "third").exists()


def test_only_a_folder_that_nobody_else_may_write_has_kept_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write there could have another user run a program."""
    expectation = {"verified": str(tmp_path / "cache")}
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2")
    folder = Path(compiling.verified_modules(expectation))
    # Nothing is left of a verification that is interrupted.
    assert not (tmp_path / "cache").exists()
    before = os.umask(0o002)
    compiling.make_private(str(folder))
    os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.parent == tmp_path / "cache"
    assert compiling.verified_modules(expectation) == str(folder)
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2 avx512f")
    assert compiling.verified_modules(expectation) != str(folder)
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2")
    folder.chmod(0o770)
    assert compiling.verified_modules(expectation) is None
    folder.chmod(0o700)
    folder.rename(tmp_path / "mine")
    folder.symlink_to(tmp_path / "mine")
    assert compiling.verified_modules(expectation) is None
    # As in an image, which has no cache.
    assert compiling.verified_modules({}) is None


def test_modules_are_shared_from_a_folder_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SimpleNamespace(ready=True)
    monkeypatch.setitem(sys.modules, "theano_stacks_sharing", SimpleNamespace(SHARED=shared))
    monkeypatch.setenv("THEANO_STACKS_MODULES", "before")
    for folder in ("/cache", None):
        compiling.share_modules(folder)
        assert os.environ["THEANO_STACKS_MODULES"] == (folder or "0")
        assert compiling.shared_modules() == folder
    # An environment that has opened its folder opens the next.
    assert not shared.ready


def modules(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """Return a compile folder: a module, one that is not finished, an extension, headers."""
    folder = tmp_path / "compiled"
    for name in (
        "c/__init__.py",
        "c/tmp1/__init__.py",
        "c/tmp1/m.so",
        "c/tmp1/mod.cpp",
        "c/tmp1/key.pkl",
        "c/tmp2/__init__.py",
        "c/tmp2/m.so",
        "c/lazylinker_ext/__init__.py",
        "c/lazylinker_ext/lazylinker_ext.so",
        "c/theano_stacks_headers/1/key.pkl",
        ".1234/key.pkl",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_what_is_compiled_is_taken(compiled: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    (target / "c/lazylinker_ext").mkdir(parents=True)
    module = {f"c/tmp1/{name}" for name in ("__init__.py", "m.so", "key.pkl", "digest")}
    extension = {
        f"c/lazylinker_ext/{name}" for name in ("__init__.py", "lazylinker_ext.so", "digest")
    }
    compiling.take(str(compiled), str(target), extensions=True)
    assert modules(target) == module
    compiling.take(str(compiled), str(tmp_path / "other"), modules=False, extensions=True)
    assert modules(tmp_path / "other") == extension
    assert not list(target.glob(".*"))


def test_what_has_changed_since_it_was_kept_is_not_taken(compiled: Path, tmp_path: Path) -> None:
    kept, again = tmp_path / "kept", tmp_path / "again"
    compiling.take(str(compiled), str(kept), extensions=True)
    with (kept / "c/tmp1/m.so").open("a") as file:
        file.write("more")
    compiling.take(str(kept), str(again), extensions=True)
    assert {Path(name).parent.name for name in modules(again)} == {"lazylinker_ext"}
    assert not (kept / "c/tmp1").exists()
