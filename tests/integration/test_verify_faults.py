"""Every check fails in an environment that is broken in its way, and for that reason."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from integration.checking import checked, edited
from integration.conftest import Prefix
from integration.programs import called, printed, run
from stacks.environments.make.contents import write_manifest
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE


@pytest.fixture
def good(prefix: Prefix) -> Path:
    """Give an environment in which every check passes."""
    return prefix("theano-1.0.5", "pip-openblas")


def test_a_scan_loop_in_python(good: Path, tmp_path: Path) -> None:
    package = tmp_path / "scan_perform"
    package.mkdir()
    (package / "__init__.py").write_text("_version = 0.296\n")
    (package / "scan_perform.py").write_text(
        "def get_version(): return 0.296\ndef perform(*a): pass\n"
    )
    (scan,) = checked(good, "scan", PYTHONPATH=str(tmp_path))
    assert scan.status == "fail"
    assert "Python code, not compiled" in scan.detail


def test_another_version_than_the_locked_one(good: Path, tmp_path: Path) -> None:
    content = json.loads((good / EXPECTATION).read_text())
    for package in content["packages"]:
        if package["name"] == "numpy":
            package["version"] = "0.0.1"
    expect = edited(good, tmp_path, packages=content["packages"], version="9.9")
    (versions,) = checked(good, "versions", expect=expect)
    assert versions.status == "fail"
    assert "locked: 0.0.1" in versions.detail
    assert "theano 1.0.5, locked: 9.9" in versions.detail


def _link_or_copy(source: str, target: str) -> None:
    link_or_copy(Path(source), Path(target))


@pytest.fixture
def own(prefix: Prefix, tmp_path: Path) -> Path:
    """Give a copy of an environment, for the test to damage."""
    place, copy = prefix("theano-1.0.5", "openblas"), tmp_path / "environment"
    shutil.copytree(place, copy, symlinks=True, copy_function=_link_or_copy)
    write_manifest(copy)
    return copy


def test_a_numpy_that_pip_replaced(own: Path, tmp_path: Path) -> None:
    assert [check.status for check in checked(own, "files", "versions")] == ["pass", "pass"]
    wheel = tmp_path / "numpy-99.0-py3-none-any.whl"
    info = "numpy-99.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("more_numpy.py", "")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 99.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"more_numpy.py,,\n{info}/RECORD,,\n")
    site_packages = own / "lib/python3.9/site-packages"
    # As pip leaves the module where it finds no RECORD of it: the rest of the suite runs.
    shutil.rmtree(next(site_packages.glob("numpy-1*.dist-info")))
    # Without the environment's constraints, which do not allow it.
    words = ("-m", "pip", "install", "--no-index", "--no-deps", wheel)
    printed(own, *words, PIP_CONFIG_FILE=os.devnull)
    files, versions = checked(own, "files", "versions")
    assert files.status == versions.status == "fail"
    assert "\nnumpy 99.0, installed by pip, replaces the locked numpy 1." in files.detail
    assert "more_numpy.py" not in files.detail
    assert "numpy 1." in versions.detail and "and 99.0, locked: 1." in versions.detail


def test_a_changed_python_is_named_without_starting_it(own: Path) -> None:
    python = own / "bin/python3.9"
    data = bytearray(python.read_bytes())
    data[len(data) // 2] ^= 1
    python.unlink()
    python.write_bytes(data)
    python.chmod(0o555)
    done = called([sys.executable, SUITE, "files", "--prefix", own])
    assert (done.returncode, done.stderr) == (1, "")
    assert "bin/python3.9: changed: " in done.stdout


def test_mkl_by_itself_never_ends_a_product_in_a_forked_process(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "mkl")
    bare = f"{place}/lib/libmkl_rt.so.3"
    _, found = checked(place, "library", "threads", LD_PRELOAD=bare, MKL_NUM_THREADS="2")
    assert found.status == "fail"
    assert found.detail == "after a product on 2 threads, a forked process never ends its own"
    assert found.fix == f"LD_PRELOAD leads to {bare}:\nunset LD_PRELOAD"


def test_another_library_than_the_expected_one(good: Path, tmp_path: Path) -> None:
    blas = {"name": "blis", "ldflags": "-lblis", "libraries": ["libblis*"]}
    (serving,) = checked(good, "library", expect=edited(good, tmp_path, blas=blas))
    assert serving.status == "fail"
    assert "expected blis (libblis*); found openblas" in serving.detail


def test_a_baseline_with_the_fast_path_is_not_the_baseline(good: Path, tmp_path: Path) -> None:
    expect = edited(good, tmp_path, baseline=True, blas=None)
    found = checked(good, "ldflags", "library", "Gemm", "Dot22", expect=expect)
    assert [check.status for check in found] == ["fail"] * 4
    assert all("this is not the baseline" in check.detail for check in found)


def test_a_blas_that_nothing_calls_is_noticed_too(prefix: Prefix) -> None:
    libraries = "lib/python3.13/site-packages/scipy.libs"
    (other,) = (prefix("pytensor-3.3.7", "pip-default") / libraries).glob("libscipy_openblas-*")
    place = prefix("pytensor-3.3.7", "openblas")
    one, *others = checked(place, "one BLAS", "numba", "known faults", LD_PRELOAD=str(other))
    assert [check.status for check in others] == ["pass"] * 2
    assert one.status == "fail"
    assert "called by nobody: openblas 0.3.31.dev (" in one.detail and other.name in one.detail
    assert one.fix == f"LD_PRELOAD leads to {other}:\nunset LD_PRELOAD"


def test_a_scipy_with_which_numba_calls_another_library(prefix: Prefix, tmp_path: Path) -> None:
    packages = prefix("pytensor-3.3.7", "pip-default") / "lib/python3.13/site-packages"
    for name in ("scipy", "scipy.libs"):
        (tmp_path / name).symlink_to(packages / name)
    place = prefix("pytensor-3.3.7", "openblas")
    found = checked(place, "one BLAS", "numba", PYTHONPATH=str(tmp_path))
    assert [check.status for check in found] == ["fail"] * 2
    assert "expected libblas_threads.so.1; linker=auto runs numba" in found[1].detail
    for check in found:
        assert check.fix == "not from the lock: scipy, with a BLAS of its own:\nunset PYTHONPATH"


def test_several_libraries_are_told_where_they_are_no_fault(good: Path) -> None:
    (one,) = checked(good, "one BLAS")
    assert one.status == "pass"
    assert "3 libraries" in one.detail
    assert all(f"{name}: openblas" in one.detail for name in ("numpy", "scipy", "theano"))


def test_what_threads_cost_several_chains_is_measured(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "pip-default")
    _, chains = checked(place, "library", "chains", expect=None, OPENBLAS_NUM_THREADS="2")
    pattern = r"\d chains at a time start \d threads on \d+ processors: with one thread each they "
    assert chains.status == "pass"
    assert re.match(pattern + r"are [\d.]+ times as fast \(SciPy's Cholesky and", chains.detail)


def test_what_does_not_compile_is_told_once(good: Path) -> None:
    (dot,) = checked(good, "Dot22", THEANO_FLAGS="blas.ldflags=-lnonesuch")
    assert dot.status == "fail"
    assert dot.detail.startswith("float64 and float32: does not compile: ")
    assert dot.detail.count("Compilation failed") == 1


def test_an_import_that_does_not_compile_is_told_once(prefix: Prefix) -> None:
    # This one prints the compiler's words on standard output, and raises them.
    place = prefix("theano-0.8.2", "pip-openblas")
    done = run(place, SUITE, THEANO_FLAGS="gcc.cxxflags=-include nonesuch.h")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("nonesuch.h: No such file") == 1


def test_accelerator_that_is_not_in_force_is_noticed(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "openblas")
    assert checked(place, "accelerator")[0].status == "pass"
    # As if the .pth file did not start it.
    (tmp_path / "theano_stacks_quick.py").write_text("def watch(): pass\n")
    (missing,) = checked(place, "accelerator", PYTHONPATH=str(tmp_path))
    assert missing.status == "fail" and missing.detail.startswith("not in force: ")


# Compile as the suite does, from the folder of modules in the last argument once that works; print
# how many modules came from there for Gemm.
SHARING = """
import os, sys, types
suite, folder, modules = sys.argv[1:]
sys.modules["verify"] = types.ModuleType("verify")
sys.modules["verify"].__path__ = [suite]
from verify.blas import operations
from verify.checks import compile_time
from verify.context import Context
from verify.core import configuration, framework
configuration.use_compile_folder(os.path.join(folder, "compiled"))
configuration.share_modules(os.path.join(folder, "modules"))
context = Context(framework.load("theano"), None, folder, "")
context.modules = modules
compile_time.compilation(context)
gemm = operations.compiled(context, operations.OPERATIONS[0], "float64")
import theano_stacks_modules
print(gemm.error, theano_stacks_modules.found["hits"])
"""


def test_shared_modules_do_not_hide_a_broken_compiler(own: Path, tmp_path: Path) -> None:
    def compiled(name: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / name
        folder.mkdir()
        return run(own, "-c", SHARING, SUITE, folder, tmp_path / "modules")

    assert compiled("first").stdout == "None 0\n"
    assert compiled("second").stdout == "None 1\n"
    next((own / "lib/gxx-sysroot").rglob("cc1plus")).unlink()
    broken = compiled("third")
    assert broken.returncode == 1 and "cc1plus" in broken.stderr
