"""What a call of BLAS or LAPACK is known by: the routines in C, with a library that notes it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from unit.blas_threads import compiled

AROUND = """
#include "fortran.c"
static uint64_t key, recorded;
static double work, large;
static int info;
static void nothing(void) { }
static void factorise(void *uplo, void *n, void *a, void *lda, int *found) { *found = info; }
void *library_function(const char *name)
{ return name[1] == 'p' ? (void *)factorise : (void *)nothing; }
void library_begin(struct call *call, uint64_t k, double w, const struct kind *kind)
{ call->key = key = k; work = w; large = kind->large; }
void library_end(const struct call *call) { recorded = call->key; }
uint64_t key_of_gemm(char ta, int m, int n, int k)
{ sgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
uint64_t key_of_dgemm(char ta, int m, int n, int k)
{ dgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
double work_of_potrf(int n) { int i; dpotrf_("L", &n, 0, &n, &i); return work; }
double work_of_getri(int n, int lwork)
{ int i = 0; zgetri_(&n, 0, &n, 0, 0, &lwork, &i); return work; }
int is_recorded(int of) { int n = 9, i; info = of; dpotrf_("L", &n, 0, &n, &i); return !!recorded; }
int is_large(void) { return work >= large; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("routines"), AROUND)


@pytest.fixture
def key(library: ctypes.CDLL) -> Callable[..., int]:
    def key_of(*sizes: int, letter: bytes = b"N", name: str = "key_of_gemm") -> int:
        function = library[name]
        function.argtypes = (ctypes.c_char, ctypes.c_int, ctypes.c_int, ctypes.c_int)
        function.restype = ctypes.c_uint64
        return int(function(letter, *sizes))

    return key_of


def test_sizes_that_nearly_agree_are_one(key: Callable[..., int]) -> None:
    assert key(960, 512, 128) == key(1023, 512, 128) == key(1023, 575, 143)


def test_others_are_not(key: Callable[..., int]) -> None:
    calls = [(960, 512, 128), (959, 512, 128), (1024, 512, 128), (512, 960, 128), (15, 512, 128)]
    keys = {key(*sizes) for sizes in [*calls, (14, 512, 128), (0, 512, 128), (-1, 512, 1)]}
    keys |= {key(960, 512, 128, letter=b"T"), key(960, 512, 128, name="key_of_dgemm")}
    assert len(keys) == len(calls) + 5


def test_a_product_of_1000_is_large_and_one_of_an_lstm_s_gradient_is_not(
    library: ctypes.CDLL, key: Callable[..., int]
) -> None:
    key(1000, 1000, 1000)
    assert library.is_large()
    key(256, 1024, 800)
    assert not library.is_large()


def test_the_work_of_a_factorisation_follows_from_its_arguments(library: ctypes.CDLL) -> None:
    library.work_of_potrf.restype = library.work_of_getri.restype = ctypes.c_double
    assert library.work_of_potrf(300) == 300**3 / 3
    # A multiplication and an addition of complex numbers are four of each.
    assert library.work_of_getri(30, 900) == pytest.approx(4 * 30**3 * 4 / 3)


def test_a_question_for_the_workspace_is_no_work(library: ctypes.CDLL) -> None:
    library.work_of_getri.restype = ctypes.c_double
    assert library.work_of_getri(30, -1) == 0


def test_a_factorisation_that_ended_early_teaches_nothing(library: ctypes.CDLL) -> None:
    assert [library.is_recorded(info) for info in (0, 3, -1)] == [1, 0, 0]
