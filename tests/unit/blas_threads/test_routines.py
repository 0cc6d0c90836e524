"""What a call of BLAS is known by: the routines in C, with a library that notes what it is told."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable

import pytest

from stacks.core.disk import REPOSITORY

SOURCE = REPOSITORY / "recipes/blas-threads/src"
AROUND = """
#include "routines.c"
static uint64_t key;
static double work, large;
static void nothing(void) { }
void *library_function(const char *name) { (void)name; return (void *)nothing; }
void library_begin(struct call *call, uint64_t k, double w, double small, double l, int alone)
{ (void)call; (void)small; (void)alone; key = k; work = w; large = l; }
void library_end(const struct call *call) { (void)call; }
uint64_t key_of_gemm(char ta, int m, int n, int k)
{ sgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
uint64_t key_of_dgemm(char ta, int m, int n, int k)
{ dgemm_(&ta, "N", &m, &n, &k, 0, 0, 0, 0, 0, 0, 0, 0); return key; }
int is_large(void) { return work >= large; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("routines")
    (folder / "around.c").write_text(AROUND)
    command = ["gcc", "-std=c99", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{SOURCE}"]
    subprocess.run([*command, folder / "around.c", "-o", folder / "routines.so"], check=True)
    return ctypes.CDLL(str(folder / "routines.so"))


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
