"""LAPACK behind libblas_threads: its table, numbers, `info`, and forks beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.programs import THREADS, printed, result
from stacks.core.disk import REPOSITORY

Prefix = Callable[[str, str], Path]
DRIVER = Path(__file__).with_name("lapack_driver.py")


def test_the_table_has_each_routine_s_arguments(prefix: Prefix) -> None:
    table = REPOSITORY / "recipes/blas-threads/src/fortran.c"
    assert result(prefix("theano-1.0.5", "openblas"), DRIVER, table) == []


@pytest.mark.parametrize("flavour", THREADS)
def test_numbers_are_right_and_info_is_the_library_s(prefix: Prefix, flavour: str) -> None:
    place = prefix("theano-1.0.5", flavour)
    threads = {THREADS[flavour]: "2"}
    assert result(place, DRIVER, "numbers", **threads) == [[], []]
    infos = result(place, DRIVER, "infos", **threads)
    assert infos["indefinite"] == 150
    assert infos == result(place, DRIVER, "infos", THEANO_STACKS_THREADS="fixed")


FORKS = """
import numpy, os, signal, threading
matrix = numpy.eye(300) + 0.1
done = threading.Event()
def call():
    while not done.is_set():
        numpy.linalg.solve(matrix, matrix)
threads = [threading.Thread(target=call) for _ in range(2)]
for thread in threads:
    thread.start()
codes = set()
for _ in range(20):
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(int(not numpy.allclose(matrix.dot(numpy.linalg.inv(matrix)), numpy.eye(300))))
    codes.add(os.waitpid(child, 0)[1])
done.set()
for thread in threads:
    thread.join()
print(codes)
"""


@pytest.mark.parametrize("flavour", THREADS)
def test_a_fork_beside_lapack_ends(prefix: Prefix, flavour: str) -> None:
    place = prefix("theano-1.0.5", flavour)
    assert printed(place, "-c", FORKS, **{THREADS[flavour]: "2"}) == "{0}\n"


REGION = """
import os, signal, numpy, theano, theano.tensor as T
theano.config.openmp_elemwise_minsize = 0
x = T.dvector()
f = theano.function([x], T.exp(x) + T.sin(x))
assert any(getattr(node.op, "openmp", False) for node in f.maker.fgraph.toposort())
vector = numpy.ones(300000)
f(vector)
child = os.fork()
if not child:
    signal.alarm(60)
    f(vector)
    os._exit(len(os.listdir("/proc/self/task")))
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
"""


def test_a_child_has_theano_s_regions_of_openmp(prefix: Prefix, tmp_path: Path) -> None:
    place, flags = prefix("theano-1.0.5", "openblas"), f"openmp=True,base_compiledir={tmp_path}"
    # Its threads are its own, two of them beside those that OpenBLAS started.
    assert int(printed(place, "-c", REGION, OMP_NUM_THREADS="2", THEANO_FLAGS=flags)) >= 2
