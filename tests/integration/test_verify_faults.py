"""Every check fails in an environment that is broken in its way, and for that reason.

Broken libraries are in test_verify_libraries.py.
"""

import os
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from integration.checking import checked, compiled, edited
from integration.conftest import Prefix
from integration.programs import printed, run
from stacks.environments.make.contents import write_manifest
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.programs import SUITE

# By check: the status, and what is found as a regular expression.
Found = Mapping[str, tuple[str, str]]
ANYTHING = ("pass|fail", "")


def assert_found(place: Path, found: Found, expect: Path | str | None, **variables: str) -> str:
    """Run the checks, compare what they find, and return the fix of the last that fails."""
    checks = checked(place, *found, expect=expect, **variables)
    for check, (status, pattern) in zip(checks, found.values(), strict=True):
        assert re.fullmatch(status, check.status), check
        assert re.search(pattern, check.detail, re.DOTALL), check
    return next((check.fix for check in reversed(checks) if check.fix), "")


NEVER_ENDS = r"after a product on 2 threads, a forked process never ends its own$"
ONCE = r"^float64 and float32: does not compile: (?!.*Compilation failed.*Compilation failed)"
CHAINS = (
    r"^\d chains at a time start \d threads on \d+ processors(, while other programs keep [\d.]+ "
    r"busy)?: with one thread each they are [\d.]+ times as fast \(SciPy's Cholesky and"
)
FLOAT16 = r"^floatX=float16: a small function takes (1\.[5-9]|[2-9]|\d\d)[\d.]* times"
OPENMP = (
    r"^openmp=True: a forked process never ends its own loops; before you use multiprocessing, "
    r"remove openmp=True from THEANO_FLAGS$"
)
LIBRARIES = r"^(?=.*3 libraries)(?=.*numpy: openblas)(?=.*scipy: openblas)(?=.*theano: openblas)"


@pytest.mark.parametrize(
    ("flavour", "expect", "variables", "found", "fix"),
    [
        ("mkl", "own", {"LD_PRELOAD": "{place}/lib/libmkl_rt.so.3", "MKL_NUM_THREADS": "2"},
         {"library": ANYTHING, "threads": ("fail", NEVER_ENDS)},
         "LD_PRELOAD leads to {place}/lib/libmkl_rt.so.3:\nunset LD_PRELOAD"),
        ("pip-openblas", "own", {"THEANO_FLAGS": "blas.ldflags=-lnonesuch"},
         {"Dot22": ("fail", ONCE)}, ""),
        *(
            (
                "pip-openblas",
                None,
                {"THEANO_FLAGS": f"gcc.cxxflags={option}"},
                {"numbers": ("fail", "nan")},
                "gcc.cxxflags",
            )
            for option in ("-ffast-math", "-Ofast", "-ffinite-math-only")
        ),
        # What costs time, or is no fault, passes and is named.
        ("pip-openblas", "own", {}, {"one BLAS": ("pass", LIBRARIES)}, ""),
        ("pip-default", None, {"OPENBLAS_NUM_THREADS": "2"},
         {"library": ANYTHING, "chains": ("pass", CHAINS)}, ""),
        ("pip-openblas", "own", {"THEANO_FLAGS": "floatX=float16"}, {"cost": ("pass", FLOAT16)},
         ""),
        ("pip-default", "own", {"THEANO_FLAGS": "openmp=True", "OMP_NUM_THREADS": "2"},
         {"cost": ("pass", OPENMP)}, ""),
    ],
)  # fmt: skip
def test_a_variable(
    prefix: Prefix, flavour: str, expect: str | None, variables: dict[str, str], found: Found,
    fix: str,
) -> None:  # fmt: skip
    place = prefix("theano-1.0.5", flavour)
    variables = {name: value.format(place=place) for name, value in variables.items()}
    assert fix.format(place=place) in assert_found(place, found, expect, **variables)


BASELINE = ("fail", "this is not the baseline")


@pytest.mark.parametrize(
    ("framework", "flavour", "changes", "found"),
    [
        ("theano-1.0.5", "pip-openblas", {"baseline": True, "blas": None},
         dict.fromkeys(("ldflags", "library", "Gemm", "Dot22"), BASELINE)),
        # Theano-PyMC has no lib.amdlibm; its name for the flag is lib.amblibm.
        (
            "theano-pymc-1.1.2",
            "openblas",
            {"flags": {"lib.amdlibm": "True"}},
            {
                "settings": ("fail", "lib.amdlibm is None, not True"),
                "libm": ("fail", "lib.amblibm is off"),
            },
        ),
    ],
)  # fmt: skip
def test_an_environment_that_is_not_the_expected_one(
    prefix: Prefix,
    tmp_path: Path,
    framework: str,
    flavour: str,
    changes: dict[str, object],
    found: Found,
) -> None:
    place = prefix(framework, flavour)
    assert_found(place, found, edited(place, tmp_path, **changes))


@pytest.mark.parametrize(
    ("variant", "files", "found"),
    [
        (
            "theano-1.0.5/pip-openblas",
            {
                "scan_perform/__init__.py": "_version = 0.296\n",
                "scan_perform/scan_perform.py": (
                    "def get_version(): return 0.296\ndef perform(*a): pass\n"
                ),
            },
            {"scan": ("fail", "Python code, not compiled")},
        ),
        # As if the .pth file did not start it.
        ("theano-1.0.5/openblas", {"theano_stacks_quick.py": "def watch(): pass\n"},
         {"accelerator": ("fail", "^not in force: ")}),
        ("pytensor-3.3.7/pip-default", {"numba/__init__.py": "raise ImportError('no LLVM')\n"},
         {"linkers": ("fail", "^linker=numba fails: .*no LLVM")}),
    ],
)  # fmt: skip
def test_a_module_that_hides_the_environments(
    prefix: Prefix, tmp_path: Path, variant: str, files: dict[str, str], found: Found
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    place = prefix(*variant.split("/"))
    fix = assert_found(place, found, "own", PYTHONPATH=str(tmp_path))
    assert "linkers" not in found or fix == "unset PYTHONPATH"


# As a C library whose functions are off by a thousandth.
WRONG = """
#define _GNU_SOURCE
#include <dlfcn.h>
extern "C" double NAME(double x) {
    static double (*right)(double) = (double (*)(double))dlsym(RTLD_NEXT, "NAME");
    return right(x) * 1.001;
}
"""


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_a_preloaded_library_with_wrong_functions(
    name: str, prefix: Prefix, tmp_path: Path
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    library = compiled(place, tmp_path, "libwrong.so", WRONG.replace("NAME", name))
    found = {"numbers": ("fail", rf"^(float64: )?({name}|sigmoid) (at .* is off by|of )")}
    fix = assert_found(place, found, "own", LD_PRELOAD=str(library))
    assert fix == f"LD_PRELOAD leads to {library}:\nunset LD_PRELOAD"


def test_a_numpy_that_pip_replaced(prefix: Prefix, tmp_path: Path) -> None:
    own = tmp_path / "environment"
    place = prefix("theano-1.0.5", "openblas")
    link = lambda source, target: link_or_copy(Path(source), Path(target))  # noqa: E731
    shutil.copytree(place, own, symlinks=True, copy_function=link)
    write_manifest(own)
    assert_found(own, {"files": ("pass", ""), "versions": ("pass", "")}, "own")
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
    replaced = r"\nnumpy 99\.0, installed by pip, replaces the locked numpy 1\."
    versions = r"numpy 1\..*and 99\.0, locked: 1\."
    files = rf"^(?!.*more_numpy\.py).*{replaced}"
    assert_found(own, {"files": ("fail", files), "versions": ("fail", versions)}, "own")


SCIPY = "lib/python3.13/site-packages/scipy"


def test_a_blas_that_nothing_calls_is_noticed_too(prefix: Prefix) -> None:
    place, default = prefix("pytensor-3.3.7", "openblas"), prefix("pytensor-3.3.7", "pip-default")
    [other] = default.glob(f"{SCIPY}.libs/libscipy_openblas-*")
    called_by_nobody = rf"called by nobody: openblas 0\.3\.31\.dev \(.*{re.escape(other.name)}"
    found = {"one BLAS": ("fail", called_by_nobody), "numba": ("pass", "")}
    found["known faults"] = ("pass", "")
    fix = assert_found(place, found, "own", LD_PRELOAD=str(other))
    assert fix == f"LD_PRELOAD leads to {other}:\nunset LD_PRELOAD"


def test_a_scipy_with_which_numba_calls_another_library(prefix: Prefix, tmp_path: Path) -> None:
    for name in ("scipy", "scipy.libs"):
        path = prefix("pytensor-3.3.7", "pip-default") / SCIPY
        (tmp_path / name).symlink_to(path.with_name(name))
    numba = ("fail", "expected libblas_threads.so.1; linker=auto runs numba")
    for found in ({"one BLAS": ("fail", "")}, {"numba": numba}):
        place = prefix("pytensor-3.3.7", "openblas")
        fix = assert_found(place, found, "own", PYTHONPATH=str(tmp_path))
        assert fix == "not from the lock: scipy, with a BLAS of its own:\nunset PYTHONPATH"


def test_an_import_that_does_not_compile_is_told_once(prefix: Prefix) -> None:
    # This one prints the compiler's words on standard output, and raises them.
    place = prefix("theano-0.8.2", "pip-openblas")
    done = run(place, SUITE, THEANO_FLAGS="gcc.cxxflags=-include nonesuch.h")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("nonesuch.h: No such file") == 1
