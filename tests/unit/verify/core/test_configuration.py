"""Where frameworks compile, and what is kept of that."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

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
    for name in ("interrupted", "first", "second"):
        compiling.use_numba(str(tmp_path / name), verified)
        # Nothing is in the cache before a verification has passed.
        assert Path(verified).exists() == (name == "second")
        (tmp_path / name / "numba" / name).touch()
        if name != "interrupted":
            compiling.make_private(verified)
            compiling.keep_numba(str(tmp_path / name), verified)
    assert sorted(path.name for path in Path(verified, "numba").iterdir()) == ["first", "second"]
    # Where it cannot be kept, nothing else fails.
    (tmp_path / "file").touch()
    compiling.keep_numba(str(tmp_path / "first"), str(tmp_path / "file/gone"))


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
