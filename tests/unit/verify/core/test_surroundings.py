"""The table of variables that run, shell, verify, lock, kernels, modules and invoke read."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

surroundings = importlib.import_module("verify.core.surroundings")


@pytest.mark.parametrize(
    ("name", "value", "action"),
    [
        ("PYTHONHOME", "/usr", "dropped"),
        ("PIP_USER", "1", "dropped"),
        ("PIP_REQUIRE_VIRTUALENV", "true", "dropped"),
        ("PIP_INDEX_URL", "/x", "honoured"),
        ("PYTHONPATH", "/x", "named"),
        ("PYTHONOPTIMIZE", "2", "named"),
        ("PYTHONOPTIMIZE", "0", "honoured"),
        ("PYTHONWARNINGS", "error::DeprecationWarning", "named"),
        ("PYTHONWARNINGS", "ignore", "honoured"),
        ("PYTHONMALLOC", "pymalloc_debug", "named"),
        ("PYTHONMALLOC", "pymalloc", "honoured"),
        ("PYTHONSAFEPATH", "1", "named"),
        ("LD_PRELOAD", "/libblas.so", "named"),
        ("LD_LIBRARY_PATH", "/x", "named"),
        ("NUMBA_DISABLE_JIT", "1", "named"),
        ("NUMBA_DISABLE_JIT", "0", "honoured"),
        ("NUMBA_OPT", "0", "named"),
        ("NUMBA_OPT", "3", "honoured"),
        ("NUMBA_NUM_THREADS", "2", "honoured"),
        ("OMP_NUM_THREADS", "2", "honoured"),
        ("MKL_CBWR", "COMPATIBLE", "named"),
        ("MKL_NUM_THREADS", "2", "honoured"),
        ("KMP_DUPLICATE_LIB_OK", "TRUE", "named"),
        ("KMP_BLOCKTIME", "0", "honoured"),
    ],
)
def test_each_variable_is_dropped_honoured_or_named(name: str, value: str, action: str) -> None:
    assert surroundings.rule_of(name, value).action == action
    assert (name in surroundings.program({name: value})) is (action != "dropped")


def test_a_variable_that_changes_nothing_is_in_no_row() -> None:
    assert surroundings.rule_of("EDITOR", "vi") is None
    assert surroundings.program({"EDITOR": "vi"}) == {"EDITOR": "vi"}


def test_a_pip_of_the_builder_installs_where_the_builder_says() -> None:
    environ = surroundings.pip({"PIP_TARGET": "/x", "PIP_CERT": "/ca"})
    assert environ == {"PIP_CERT": "/ca", "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}


def test_only_folders_that_hide_something_of_the_environment_are_named(tmp_path: Path) -> None:
    library = tmp_path / "prefix/lib"
    library.mkdir(parents=True)
    (library / "libopenblas.so.0").touch()
    for name in ("cuda/libcudart.so.12", "other/libopenblas.so.0"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    prefix = str(tmp_path / "prefix")
    for folder, hidden in (("cuda", []), ("prefix/lib", []), ("other", ["libopenblas.so.0"])):
        environ = {"LD_LIBRARY_PATH": f"{tmp_path / folder}:/nowhere"}
        assert surroundings.hides(environ, "LD_LIBRARY_PATH", prefix) == hidden
        assert len(surroundings.remarks(environ, prefix)) == len(hidden)


def test_the_script_invoke_runs_it_by_its_path() -> None:
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['pip']({'PIP_USER': '1'}))"
    words = [sys.executable, "-I", "-S", "-c", code, "verify/core/surroundings.py"]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "'PIP_USER': '0'" in done.stdout


def test_a_path_is_taken_out_by_its_name_or_by_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    real = str((tmp_path / "folder").resolve())
    monkeypatch.setenv("ODD_PATH", f"/a b:{tmp_path}/link:{real}")
    assert surroundings.without("ODD_PATH", real) == "export ODD_PATH='/a b'"
    monkeypatch.setenv("ODD_PATH", str(tmp_path / "link"))
    assert surroundings.without("ODD_PATH", real) == "unset ODD_PATH"
    assert surroundings.without("ODD_PATH", "/other") is None
    monkeypatch.delenv("ODD_PATH")
    assert surroundings.without("ODD_PATH", real) is None


def test_what_is_loaded_first_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/odd:/none")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6 /odd/x.so")
    fix = "LD_PRELOAD leads to /odd/x.so:\nexport LD_PRELOAD=libm.so.6"
    assert surroundings.loader_fix(["/odd/x.so"]) == fix
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    fix = "LD_LIBRARY_PATH leads to /odd/x.so:\nexport LD_LIBRARY_PATH=/none"
    assert surroundings.loader_fix(["/lib/y.so", "/odd/x.so"]) == fix
    assert surroundings.loader_fix(["/lib/y.so"]) is None
