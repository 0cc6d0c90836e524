"""A fault, its fix as the suite prints it, applied word for word: then the fault is gone."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from integration.checking import apply_fixes, checked, compiled, virtual_environment
from integration.conftest import Prefix
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.variants.load import load_variant

SETTINGS = {"settings": ""}
BLAS = dict.fromkeys(("ldflags", "library", "Gemm", "Dot22"), "")
OLD_BLAS = "[blas]\nldflags = -lnothere\n"
NOT_FOUND = {"settings": "blas.ldflags is -l", "ldflags": "cannot find -lnothere"}


@pytest.mark.parametrize(
    ("theanorc", "flags", "checks"),
    [
        (
            "",
            "blas.ldflags=",
            {
                "settings": "THEANO_FLAGS",
                **BLAS,
                "Gemm": "calls NumPy, not a BLAS library",
                "Dot22": "float64 Dot22 is Py",
            },
        ),
        ("", "blas.ldflags=-lopenblas -lnothere", NOT_FOUND),
        ("", "blas.ldflags=-lnothere -lopenblas", NOT_FOUND),
        (OLD_BLAS, "", {**NOT_FOUND, "settings": "/.theanorc)"}),
        (
            "",
            "blas.ldflags=-lopenblas",
            {"library": "expected openblas (libblas_threads.so.1); found openblas"},
        ),
        # Without a compiler every operation is Python.
        (
            "",
            "cxx=",
            {
                "settings": "cxx is ",
                "library": "through NumPy",
                "Gemm": "Gemm is Py",
                **dict.fromkeys(("Gemv", "Ger", "Dot22Scalar", "BatchedDot"), " is Py"),
                "scan": "compiled loop is missing",
            },
        ),
        (OLD_BLAS, "blas.ldflags=,gcc.cxxflags=-O0", SETTINGS | BLAS),
        ("[global]\ncxx =\n", "", {"settings": "cxx is ", "Gemm": "Gemm is Py"}),
    ],
)
def test_of_a_setting_in_an_environment_of_this_project(
    prefix: Prefix, home: Path, theanorc: str, flags: str, checks: Mapping[str, str]
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    (home / ".theanorc").write_text(theanorc)
    apply_fixes(place, checks, home, "own", THEANO_FLAGS=flags)


@pytest.fixture(scope="module")
def linkable(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a virtual environment with pip's Theano, in which somebody has put OpenBLAS."""
    base = prefix("theano-1.0.5", "pip-default")
    place = virtual_environment(base, tmp_path_factory.mktemp("linkable") / "venv")
    for path in prefix("theano-1.0.5", "openblas").glob("lib/libopenblas*.so*"):
        (place / "lib" / path.name).symlink_to(path)
    return place


@pytest.mark.parametrize(
    ("theanorc", "flags", "checks"),
    [
        ("", "", BLAS),
        ("[blas]\n", "", {"ldflags": ""}),
        (OLD_BLAS, "", {"ldflags": ""}),
        (OLD_BLAS, "blas.ldflags=", {"ldflags": ""}),
        ("[global]\nlinker = py\ncxx =\n", "mode=FAST_COMPILE", SETTINGS),
    ],
)
def test_of_a_setting_in_a_virtual_environment(
    linkable: Path, home: Path, theanorc: str, flags: str, checks: Mapping[str, str]
) -> None:
    (home / ".theanorc").write_text(theanorc)
    apply_fixes(linkable, checks, home, None, THEANO_FLAGS=flags)


def test_of_a_slow_library_that_the_flags_name(prefix: Prefix, linkable: Path, home: Path) -> None:
    source = 'extern "C" { void dgemm_() {} void sgemm_() {} void dgemv_() {} void sgemv_() {} }'
    compiled(prefix("theano-1.0.5", "openblas"), home, "libslow.so", source)
    slow = f"blas.ldflags=-L{home} -lslow -Wl\\,-rpath\\,{home}"
    fixes = apply_fixes(linkable, {"library": "libslow.so"}, home, None, THEANO_FLAGS=slow)
    assert "lead to it; remove blas.ldflags from THEANO_FLAGS, then put" in fixes[0]


@pytest.mark.parametrize(
    ("theanorc", "flags"),
    [("", "blas.ldflags=-L{0} -lopenblas"), ("[blas]\nldflags = -L{0} -lopenblas\n", "")],
)
def test_of_a_baseline_that_is_linked(
    prefix: Prefix, home: Path, theanorc: str, flags: str
) -> None:
    place = prefix("theano-1.0.5", "pip-default")
    library = prefix("theano-1.0.5", "openblas") / "lib"
    (home / ".theanorc").write_text(theanorc.format(library))
    apply_fixes(place, BLAS, home, "own", THEANO_FLAGS=flags.format(library))


@pytest.mark.parametrize(
    ("framework", "flag"), [("theano-1.0.5", "lib.amdlibm"), ("theano-pymc-1.1.2", "lib__amblibm")]
)
def test_of_array_functions_that_are_not_called(
    prefix: Prefix, home: Path, framework: str, flag: str
) -> None:
    place, dotted = prefix(framework, "openblas-amdlibm"), flag.replace("__", ".")
    off = {"libm": f"{dotted} is off (THEANO_FLAGS): no array function is called", "settings": ""}
    [fix, *_] = apply_fixes(place, off, home, "own", THEANO_FLAGS=f"{flag}=False")
    assert fix == f"remove {flag}=False from THEANO_FLAGS"


def test_of_loops_that_the_header_does_not_replace(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "openblas-amdlibm")
    flags = "gcc.cxxflags=-DAMDLIBM_COMPAT_NO_SIMD -mno-vzeroupper"
    checks = {"loops": "tanh calls the C library's function", "registers": "still in use after "}
    apply_fixes(place, checks, home, "own", THEANO_FLAGS=flags)
    apply_fixes(place, {"libm": ""}, home, "own", THEANO_FLAGS="cxx=")


def test_of_the_compiler_s_options_in_a_virtual_environment(linkable: Path, home: Path) -> None:
    (home / ".theanorc").write_text("[gcc]\ncxxflags = -O3 -mno-vzeroupper\n")
    apply_fixes(linkable, {"registers": "later SSE instructions"}, home, None)
    assert "cxxflags = -O3\n" in (home / ".theanorc").read_text()


def test_of_the_accelerator(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "openblas")
    [fix] = apply_fixes(place, {"accelerator": ""}, home, "own", THEANO_STACKS_QUICK="0")
    assert fix == "unset THEANO_STACKS_QUICK"


def test_of_a_compiled_module_that_is_cut_off(prefix: Prefix, linkable: Path, home: Path) -> None:
    compile_folder = home / "compiled/compiledir_here"
    (home / ".theanorc").write_text(f"[global]\nbase_compiledir = {home / 'compiled'}\n")
    folder = compile_folder / "tmp a module"
    folder.mkdir(parents=True)
    whole = compiled(prefix("theano-1.0.5", "openblas"), folder, "m1.so", "int one;")
    (folder / "key.pkl").touch()
    os.truncate(whole, whole.stat().st_size - 1)
    other = compiled(prefix("theano-1.0.5", "openblas"), home, "m2.so", "int two;")
    (compile_folder / "tmp2").mkdir()
    other = other.rename(compile_folder / "tmp2/m2.so")
    apply_fixes(linkable, {"compile folder": ""}, home, None)
    assert not folder.exists() and other.exists()


def test_of_a_flag_that_pytensor_breaks_on(prefix: Prefix, home: Path) -> None:
    place = prefix("pytensor-3.3.7", "pip-openblas")
    flags = "lib__amdlibm=True,blas__ldflags="
    fault = "cannot compile exp, log and sin with lib__amdlibm=True"
    checks = {"known faults": fault, "settings": "PYTENSOR_FLAGS", "ldflags": ""}
    apply_fixes(place, checks, home, "own", PYTENSOR_FLAGS=flags)


def test_of_a_variable_of_the_compiler_where_programs_run_numba(prefix: Prefix, home: Path) -> None:
    (home / "pthread.h").write_text("#error mine")
    checks = {"ldflags": "", "Gemm": "which has the compiler search its folders first"}
    place = prefix("pytensor-3.3.7", "openblas")
    assert apply_fixes(place, checks, home, "own", CPATH=str(home)) == ["unset CPATH"]


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("include/amdlibm.h", "the compiler finds no header amdlibm.h"),
        ("lib/libamdlibm.so", "the linker or the loader finds no libamdlibm.so"),
    ],
)
def test_a_missing_header_or_library_of_libm(
    workspace: Workspace, tmp_path: Path, missing: str, reason: str
) -> None:
    variant = load_variant(workspace, "openblas-amdlibm", "theano-1.0.5")
    place = pipeline.make_environment(workspace, variant, tmp_path / "environment")
    (place / missing).unlink()
    [libm] = checked(place, "libm")
    assert (libm.status, libm.detail) == ("fail", f"exp does not compile: {reason}")
    assert libm.fix == "put the files back:\n./invoke build --variant openblas-amdlibm --repair"
    # The command is for the environment of the checkout; this one is elsewhere.
    pipeline.make_environment(workspace, variant, place, repair=True)
    assert checked(place, "libm")[0].status == "pass"
