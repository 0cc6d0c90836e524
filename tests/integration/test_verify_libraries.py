"""The checks of BLAS fail with libraries that are broken in their way: stand-ins, compiled here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked, compiled
from integration.conftest import Prefix
from integration.programs import run
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE

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
IDLE = """
extern "C" void dgemm_() {}
extern "C" void sgemm_() {}
"""
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
COUNTS_SEVEN = (
    IDLE
    + """
extern "C" const char *openblas_get_config() { return "OpenBLAS 9.9.9 "; }
extern "C" int openblas_get_num_threads() { return 7; }
"""
)
# As a library does whose threads lose a part of a product.
WRONG_IF_LARGE = """
#include <dlfcn.h>
typedef void gemm(char *, char *, int *, int *, int *, void *, void *, int *, void *, int *, void *,
    float *, int *);
extern "C" void sgemm_(char *ta, char *tb, int *m, int *n, int *k, void *alpha, void *a, int *lda,
    void *b, int *ldb, void *beta, float *c, int *ldc) {
    void *real = dlopen("%s", RTLD_LAZY);
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


@pytest.fixture
def good(prefix: Prefix) -> Path:
    """Give an environment in which every check passes."""
    return prefix("theano-1.0.5", "pip-openblas")


@pytest.fixture
def library(good: Path, tmp_path: Path) -> Callable[[str, str], Path]:
    """Give a function that compiles a shared library from source text."""
    return lambda name, source: compiled(good, tmp_path, name, source)


def test_a_preloaded_library_is_seen_to_serve(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    liar = library("libopenblas-false.so", IDLE)
    serving, numbers = checked(good, "library", "Gemm numbers", LD_PRELOAD=str(liar))
    assert serving.status == numbers.status == "fail"
    assert "libopenblas-false.so" in serving.detail
    assert serving.fix is not None and f"LD_PRELOAD leads to {liar}:\n" in serving.fix
    assert "float64" in numbers.detail


def test_a_product_that_is_wrong_on_all_threads_is_noticed(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    wrong = library("libwrong.so", WRONG_IF_LARGE % (good / "lib/libblas_threads.so.1"))
    (numbers,) = checked(good, "Gemm numbers", LD_PRELOAD=str(wrong))
    assert (numbers.status, numbers.detail) == (
        "fail",
        "float32, 1 of the elements of a product of 1100 x 1100 on all threads are wrong",
    )


def test_a_reference_library_is_told_by_its_lack_of_symbols(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    path = library("libblas.so", NAIVE)
    (serving,) = checked(
        good,
        "library",
        expect=None,
        THEANO_FLAGS=f"blas.ldflags=-L{path.parent} -lblas",
        LD_LIBRARY_PATH=str(path.parent),
    )
    assert serving.status == "fail"
    assert "reference or unknown (libblas.so)" in serving.detail


def test_slow_products_fail_by_processor_time(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    (speed,) = checked(good, "speed", LD_PRELOAD=str(library("libslow.so", NAIVE)))
    assert speed.status == "fail"
    assert "less than 30 %" in speed.detail


def test_a_library_that_ignores_its_thread_count(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    _, threads = checked(good, "library", "threads", LD_PRELOAD=str(library("lib7.so", BUSY)))
    assert threads.status == "fail"
    assert "with one thread requested" in threads.detail


def test_a_thread_count_that_nobody_asked_for(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    preload = str(library("lib7.so", COUNTS_SEVEN))
    _, threads = checked(good, "library", "threads", LD_PRELOAD=preload, OMP_NUM_THREADS="2")
    assert threads.status == "fail"
    assert threads.detail == "the library uses 7 where OMP_NUM_THREADS asks for 2"


# Theano's own module calls the library with the interpreter's lock held, NumPy without.
@pytest.mark.parametrize("flavour", ["pip-openblas", "pip-default"])
def test_a_library_that_does_not_return(
    flavour: str, prefix: Prefix, library: Callable[[str, str], Path], tmp_path: Path
) -> None:
    place = prefix("theano-1.0.5", flavour)
    liar = library("libdeadlocked.so", DEADLOCKED)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = (SUITE, "--expect", place / EXPECTATION, "--limit", "30")
    done = run(place, *words, LD_PRELOAD=str(liar), TMPDIR=str(temporary))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"verify: `.*Gemm.*` made no progress for 30 s and was killed\n", done.stderr)
    assert "does not return, most likely the BLAS" in done.stderr
    assert not list(temporary.iterdir())


def test_what_mkl_says_before_it_ends_the_process_is_the_cause(
    good: Path, library: Callable[[str, str], Path]
) -> None:
    folder = library("libmkl_intel_lp64.so", FATAL).parent
    flags = f"blas.ldflags=-L{folder} -lmkl_intel_lp64"
    done = run(good, SUITE, LD_LIBRARY_PATH=str(folder), THEANO_FLAGS=flags)
    assert (done.returncode, done.stdout) == (1, "")
    assert "verify: the process was ended with status 2 at `" in done.stderr
    assert "\n  cause: Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so.2" in done.stderr
    assert "\n  fix: link MKL by its one library, mkl_rt, " in done.stderr
