"""The table of variables that run, shell, verify, lock, kernels, modules and invoke read."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

surroundings = importlib.import_module("verify.core.surroundings")


@pytest.mark.parametrize(
    ("name", "values", "unknown"),
    [
        ("PYTHONHOME", "/usr", ""),
        ("PIP_DRY_RUN", "1", ""),
        ("PYTHONPATH", "/x", ""),
        ("PYTHONOPTIMIZE", "1 2", "0"),
        ("PYTHONWARNINGS", "error::DeprecationWarning", "ignore"),
        ("PYTHONMALLOC", "pymalloc_debug malloc", "pymalloc"),
        ("PYTHONSAFEPATH", "1", ""),
        ("LD_PRELOAD", "/libblas.so", ""),
        ("LD_LIBRARY_PATH", "/x", ""),
        ("NUMBA_DISABLE_JIT", "1", "0"),
        ("NUMBA_OPT", "0", "3"),
        ("MKL_CBWR", "COMPATIBLE", ""),
        ("KMP_DUPLICATE_LIB_OK", "TRUE", "FALSE"),
        ("MKL_INTERFACE_LAYER", "ILP64 GNU,ILP64", "LP64"),
        ("KMP_LIBRARY", "serial", "throughput"),
        ("MALLOC_PERTURB_", "165", "0"),
        (
            "GLIBC_TUNABLES",
            "glibc.cpu.hwcaps=-AVX2 glibc.malloc.perturb=165:glibc.pthread.rseq=0",
            "glibc.malloc.check=0",
        ),
        ("LD_BIND_NOW", "1", ""),
        ("LD_RUN_PATH", "/x", ""),
        ("GCONV_PATH", "/x", ""),
        ("OMP_DISPLAY_ENV", "TRUE verbose", "false"),
        ("OMP_NUM_THREADS", "", "2"),
        ("PIP_INDEX_URL", "", "/x"),
        ("EDITOR", "", "vi"),
    ],
)
def test_what_each_value_of_a_variable_does(name: str, values: str, unknown: str) -> None:
    assert all(surroundings.reason_of(name, value) for value in values.split())
    assert surroundings.reason_of(name, unknown) is None


def test_a_pip_of_the_builder_installs_where_the_builder_says() -> None:
    left = dict.fromkeys(("PIP_TARGET", "PIP_NO_DEPS", "PIP_CONSTRAINT", "PIP_NO_BINARY"), "1")
    environ = surroundings.pip({**left, "PIP_CERT": "/ca"})
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
