"""Libraries that are broken in their way: stand-ins, compiled here, and the fixes as printed."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from integration.checking import applied, apply_fixes, checked, compiled, virtual_environment
from integration.conftest import Prefix
from integration.programs import run
from stacks.core.workspace import Workspace
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE
from stacks.sources.fetch import fetch
from stacks.sources.pins import read_pins

NAIVE_PRODUCT = """
extern "C" void %(letter)sgemm_(char *ta, char *tb, int *m, int *n, int *k, %(type)s *alpha,
    %(type)s *a, int *lda, %(type)s *b, int *ldb, %(type)s *beta, %(type)s *c, int *ldc) {
    int left = *ta == 'N' || *ta == 'n', right = *tb == 'N' || *tb == 'n';
    for (int j = 0; j < *n; j++) for (int i = 0; i < *m; i++) {
        volatile %(type)s sum = 0;
        for (int l = 0; l < *k; l++)
            sum += a[left ? i + l * *lda : l + i * *lda] * b[right ? l + j * *ldb : j + l * *ldb];
        c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
    }
}
"""
NAIVE = NAIVE_PRODUCT % {"letter": "d", "type": "double"} + NAIVE_PRODUCT % {
    "letter": "s",
    "type": "float",
}
IDLE = 'extern "C" { void dgemm_() {} void sgemm_() {} }'
IDLE_VECTORS = 'extern "C" { void dgemv_() {} void dger_() {} }'
NUMBERS = ("Gemm", "Gemv", "Ger", "Dot22", "Dot22Scalar", "BatchedDot")
BUSY = """
#include <thread>
#include <vector>
#include <chrono>
static void spin() {
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) {}
}
extern "C" void dgemm_() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(spin);
    for (auto &thread : threads) thread.join();
}
extern "C" void sgemm_() {}
"""
# As a library does whose threads lose a part of a product.
WRONG_IF_LARGE = """
#include <dlfcn.h>
typedef void gemm(char *, char *, int *, int *, int *, void *, void *, int *, void *, int *, void *,
    float *, int *);
extern "C" void sgemm_(char *ta, char *tb, int *m, int *n, int *k, void *alpha, void *a, int *lda,
    void *b, int *ldb, void *beta, float *c, int *ldc) {
    void *real = dlopen("REAL", RTLD_LAZY);
    ((gemm *)dlsym(real, "sgemm_"))(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (*m >= 1000) c[7] += 1;
}
"""
# As a library does whose threads wait for one another.
DEADLOCKED = """
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void hang() { pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); }
extern "C" void dgemm_() { hang(); }
extern "C" void cblas_dgemm() { hang(); }
extern "C" void cblas_dgemm64_() { hang(); }
"""
# As MKL does where a part of it is missing.
FATAL = """
#include <cstdio>
#include <unistd.h>
static void end() {
    fputs("Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2 or libmkl_def.so.2.\\n", stderr);
    _exit(2);
}
extern "C" void dgemm_() { end(); }
extern "C" void sgemm_() { end(); }
"""


LIAR = """
#include <cmath>
extern "C" void amd_vrsa_expf(int n, float *x, float *z) {
    for (int i = 0; i < n; i++) z[i] = 1.001f * expf(x[i]);
}
"""


BLAS = ("ldflags", "library", "Gemm", "Dot22")


@pytest.fixture
def good(prefix: Prefix) -> Path:
    """Give an environment in which every check passes."""
    return prefix("theano-1.0.5", "pip-openblas")


def test_a_preloaded_library_that_is_wrong_for_large_products(good: Path, tmp_path: Path) -> None:
    source = WRONG_IF_LARGE.replace("REAL", str(good / "lib/libblas_threads.so.1"))
    library = str(compiled(good, tmp_path, "libstand_in.so", source))
    [found] = checked(good, "Gemm numbers", LD_PRELOAD=library, OMP_NUM_THREADS="2")
    detail = "float32, 1 of the elements of a product of 1100 x 1100 on all threads are wrong"
    assert (found.status, found.detail) == ("fail", detail)


# Theano's own module calls the library with the interpreter's lock held, NumPy without.
@pytest.mark.parametrize("flavour", ["pip-openblas", "pip-default"])
def test_a_library_that_does_not_return(flavour: str, prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", flavour)
    liar = compiled(prefix("theano-1.0.5", "openblas"), tmp_path, "libdeadlocked.so", DEADLOCKED)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = (SUITE, "--expect", place / EXPECTATION, "--limit", "30")
    done = run(place, *words, LD_PRELOAD=str(liar), TMPDIR=str(temporary))
    assert (done.returncode, done.stdout) == (1, "")
    where = "made no progress for 30 s in libdeadlocked.so and was killed"
    assert re.search(rf"verify: `.*Gemm.*` {where}\n", done.stderr)
    assert not list(temporary.iterdir())


def test_what_mkl_says_before_it_ends_the_process_is_the_cause(good: Path, tmp_path: Path) -> None:
    folder = compiled(good, tmp_path, "libmkl_intel_lp64.so", FATAL).parent
    flags = f"blas.ldflags=-L{folder} -lmkl_intel_lp64"
    done = run(good, SUITE, LD_LIBRARY_PATH=str(folder), THEANO_FLAGS=flags)
    assert (done.returncode, done.stdout) == (1, "")
    assert "verify: the process was ended with status 2 at `" in done.stderr
    assert "\n  cause: Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2" in done.stderr
    assert "\n  fix: link MKL by its one library, mkl_rt, " in done.stderr


@pytest.mark.parametrize(
    ("source", "checks"),
    [
        (
            IDLE + IDLE_VECTORS,
            {"library": "libfirst.so", **{f"{name} numbers": "float64" for name in NUMBERS}},
        ),
        (BUSY, {"library": "libfirst.so", "threads": "with one thread requested"}),
        (NAIVE, {"library": "libfirst.so", "speed": "less than 30 %"}),
    ],
)
def test_of_a_library_that_is_loaded_before_all_others(
    prefix: Prefix, home: Path, source: str, checks: dict[str, str]
) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    library = compiled(place, home, "libfirst.so", source)
    [fix] = apply_fixes(place, checks, home, "own", LD_PRELOAD=str(library))
    assert fix == f"LD_PRELOAD leads to {library}:\nunset LD_PRELOAD"


def test_of_a_library_that_is_found_before_the_right_one(prefix: Prefix, home: Path) -> None:
    place, good = prefix("theano-1.0.5", "pip-default"), prefix("theano-1.0.5", "openblas") / "lib"
    bad = home / "a folder"
    bad.mkdir()
    source = "".join(f"void {name}_() {{}}" for name in ("dgemm", "sgemm", "dgemv", "sgemv"))
    library = compiled(place, bad, "libopenblas.so.0", f'extern "C" {{ {source} }}')
    variables = {"THEANO_FLAGS": f"blas.ldflags=-L{good} -lopenblas", "LD_PRELOAD": "libm.so.6"}
    search = {"LD_LIBRARY_PATH": f"{bad}:{good}"}
    [fix] = apply_fixes(place, {"library": ""}, home, None, **variables, **search)
    assert fix == f"LD_LIBRARY_PATH leads to {library}:\nexport LD_LIBRARY_PATH={good}"


def test_of_wrong_array_functions(prefix: Prefix, home: Path) -> None:
    place = prefix("theano-1.0.5", "openblas-amdlibm")
    liar = compiled(place, home, "libliar.so", LIAR)
    checks = {"libm": "found unknown library, libliar.so", "accuracy": "amd_vrsa_expf"}
    apply_fixes(place, checks, home, "own", LD_PRELOAD=f"libm.so.6 {liar}")


def test_of_the_number_of_threads(prefix: Prefix, home: Path) -> None:
    # BLIS, by itself, takes one thread.
    place = virtual_environment(prefix("theano-1.0.5", "pip-default"), home / "venv")
    for path in prefix("theano-1.0.5", "blis").glob("lib/libblis*.so*"):
        (place / "lib" / path.name).symlink_to(path)
    apply_fixes(place, {"ldflags": ""}, home, None)
    [fix] = apply_fixes(place, {"library": "", "threads": ""}, home, None)
    assert fix.startswith("set this before Python starts:\nexport BLIS_NUM_THREADS=")


def test_of_a_numpy_that_is_too_new(prefix: Prefix, tmp_path: Path, home: Path) -> None:
    base, newer = prefix("theano-1.0.5", "pip-default"), prefix("aesara-2.8.7", "pip-default")
    place = tmp_path / "a venv"
    subprocess.run([base / "bin/python", "-m", "venv", "--without-pip", place], check=True)
    [site] = place.glob("lib/python*/site-packages")
    for source, names in ((base, "theano* Theano* scipy* six* pip*"), (newer, "numpy*")):
        [packages] = source.glob("lib/python*/site-packages")
        for path in (path for name in names.split() for path in packages.glob(name)):
            if path.is_dir():
                shutil.copytree(path, site / path.name)
            else:
                shutil.copyfile(path, site / path.name)
    # Theano does not import: for want of a name that NumPy has dropped, then of that of its BLAS.
    variables = {"HOME": str(home)}

    def fix(reason: str) -> str:
        done = run(place, SUITE, **variables)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
        return done.stderr.partition("  fix: ")[2].strip()

    applied(fix("module 'numpy' has no attribute 'bool'"), variables, home)
    # Its first step installs OpenBLAS, as root; no flag can name a library below a blank.
    _, setting = fix("'blas_opt_info'").split("\nthen ")
    setting, _, without_root = setting.partition("\nor, without root, ")
    assert without_root == "MKL by pip in an environment whose path has no blanks"
    applied(setting, variables, home)
    assert checked(place, "settings", expect=None, **variables)[0].status == "pass"


@pytest.fixture(scope="module")
def installed(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with all of MKL, as Intel's installer makes it."""
    pins = read_pins(workspace.sources_lock)
    [pin] = [pin for pin in pins.files if pin.name == "mkl"]
    place = tmp_path_factory.mktemp("intel") / "mkl"
    with zipfile.ZipFile(fetch(workspace, [pin])[pin]) as wheel:
        for name in wheel.namelist():
            if "/data/lib/" in name and ".so" in name:
                path = place / "lib" / Path(name).name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(wheel.read(name))
    [versioned] = place.glob("lib/libmkl_rt.so.*")
    (place / "lib/libmkl_rt.so").symlink_to(versioned.name)
    return place


def test_the_mkl_of_intel_s_installer_and_of_conda(
    prefix: Prefix, installed: Path, tmp_path: Path, home: Path
) -> None:
    """NumPy's own OpenBLAS makes `numpy.dot` fast here, but not the framework's products."""
    by_pip = virtual_environment(prefix("theano-1.0.5", "pip-default"), tmp_path / "venv")
    # What the script of Intel's installer sets. The installer also brings Intel's OpenMP, which
    # the wheel of MKL lacks: so GNU's.
    variables = {"MKLROOT": str(installed), "MKL_THREADING_LAYER": "GNU"}
    flags = f"blas.ldflags=-L{installed}/lib -lmkl_rt"
    conda = prefix("theano-1.0.5", "mkl")
    flags_of_conda = f"blas.ldflags=-L{conda}/lib -lmkl_rt -lpthread -lm -lm"

    def assert_passes(place: Path, **variables: str) -> None:
        found = checked(place, *BLAS, expect=None, HOME=str(home), **variables)
        assert [check for check in found if check.status == "fail"] == []
        assert any(check.detail.startswith("mkl 2026") for check in found)

    assert_passes(by_pip, THEANO_FLAGS=flags, **variables)
    fixes = apply_fixes(by_pip, dict.fromkeys(BLAS, ""), home, None, **variables)
    library = installed / "lib"
    assert f"ldflags = -L{library} -lmkl_rt -Wl,-rpath,{library}" in fixes[0]
    assert_passes(by_pip, **variables)
    assert_passes(conda, THEANO_FLAGS=flags_of_conda)
