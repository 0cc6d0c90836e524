"""Each call of BLAS and LAPACK gets its number of threads: values, counts, `info`, forks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import Prefix
from integration.programs import THREADS, printed, result
from stacks.core.disk import REPOSITORY

LIBRARIES = {"blis": "libblis.so.4", "mkl": "libmkl_rt.so.3", "openblas": "libopenblas.so.0"}
DRIVER = Path(__file__).with_name("threads_driver.py")


def driven(place: Path, **environ: str) -> dict[str, Any]:
    found: dict[str, Any] = result(place, DRIVER, place / "lib/libblas_threads.so.1", **environ)
    return found


@pytest.mark.parametrize("flavour", THREADS)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_values_and_counts(prefix: Prefix, flavour: str, count: int) -> None:
    place = prefix("theano-1.0.5", flavour)
    # MKL otherwise takes no more threads than there are cores.
    variables = {THREADS[flavour]: str(count), "MKL_DYNAMIC": "FALSE"}
    found = driven(place, **variables)
    # OpenBLAS starts no more threads than there are processors.
    most = min(count, len(os.sched_getaffinity(0))) if flavour == "openblas" else count
    assert found == {
        "before": most,
        "wrong": [],
        "after": most,
        "in a child": [200.0, most],
        "after threads": most,
        "set to one": 1,
        "adapt": 1,
    }


# Threads call something while processes are forked, each of which must end with the right result.
FORKS = """
import numpy, os, signal, threading
{setup}
done = threading.Event()
def call():
    while not done.is_set():
        {call}
threads = [threading.Thread(target=call) for _ in range({others})]
for thread in threads:
    thread.start()
codes = set()
for _ in range({forks}):
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(int(not ({right})))
    codes.add(os.waitpid(child, 0)[1])
done.set()
for thread in threads:
    thread.join()
print("%s" % sorted(codes))
"""


def forked(
    place: Path,
    setup: str,
    right: str,
    call: str = "pass",
    *,
    forks: int = 1,
    others: int = 0,
    environ: Mapping[str, str],
) -> str:
    """Return the exit statuses of forked processes.

    setup: what the program does first. right: whether a child's result is. call: what other threads
    do meanwhile.
    """
    program = FORKS.format(setup=setup, call=call, right=right, forks=forks, others=others)
    return printed(place, "-c", program, **environ)


@pytest.mark.parametrize("flavour", THREADS)
@pytest.mark.parametrize("policy", ["", "fixed"])
@pytest.mark.parametrize(("size", "forks", "others"), [(900, 3, 0), (400, 40, 4)])
def test_neither_a_forked_process_nor_its_parent_waits_for_ever(
    prefix: Prefix, flavour: str, policy: str, size: int, forks: int, others: int
) -> None:
    """Large products on all threads before the fork; then products of other threads beside it."""
    setup = f"matrix = numpy.ones(({size}, {size}))\nfor _ in range(3): matrix.dot(matrix)"
    environ = {THREADS[flavour]: "2", "THEANO_STACKS_THREADS": policy}
    place, right = prefix("theano-1.0.5", flavour), f"matrix.dot(matrix)[0, 0] == {size}"
    call, counts = "matrix.dot(matrix)", {"forks": forks, "others": others}
    assert forked(place, setup, right, call, environ=environ, **counts) == "[0]\n"


@pytest.mark.parametrize("flavour", THREADS)
def test_a_fork_beside_lapack_ends(prefix: Prefix, flavour: str) -> None:
    place, setup = prefix("theano-1.0.5", flavour), "matrix = numpy.eye(300) + 0.1"
    right = "numpy.allclose(matrix.dot(numpy.linalg.inv(matrix)), numpy.eye(300))"
    call = "numpy.linalg.solve(matrix, matrix)"
    environ = {THREADS[flavour]: "2"}
    assert forked(place, setup, right, call, forks=20, others=2, environ=environ) == "[0]\n"


def test_a_fork_beside_complex_products_ends(prefix: Prefix) -> None:
    place, setup = prefix("theano-1.0.5", "openblas"), "vector = numpy.ones(200000, complex)"
    call, environ = "numpy.vdot(vector, vector)", {"OPENBLAS_NUM_THREADS": "2"}
    right = f"{call} == len(vector)"
    assert forked(place, setup, right, call, forks=100, others=1, environ=environ) == "[0]\n"


def test_a_fork_after_lapack_ends_on_python_2(prefix: Prefix) -> None:
    # NumPy 1.13 calls no BLAS when it is imported.
    place, solve = prefix("theano-0.8.2", "mkl"), "numpy.linalg.solve(matrix, matrix)"
    setup = f"matrix = numpy.eye(900) + 0.1\n{solve}"
    right = f"{solve} is not None and matrix.dot(matrix).shape == (900, 900)"
    assert forked(place, setup, right, environ={"MKL_NUM_THREADS": "2"}) == "[0]\n"


def test_it_can_be_switched_off(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "openblas")
    found = driven(place, OPENBLAS_NUM_THREADS="1", THEANO_STACKS_THREADS="fixed")
    assert (found["wrong"], found["adapt"]) == ([], 0)


IN_A_CHILD = """
import ctypes, os, signal, sys
import numpy
library, number = ctypes.CDLL(sys.argv[1]), sys.argv[2]
matrix = numpy.ones((600, 600))
if number:
    library.MKL_Set_Num_Threads_Local(int(number))
matrix.dot(matrix)
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(int(matrix.dot(matrix)[0, 0] != 600))
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize(
    ("flavour", "number", "variables"), [("blis", "", {"BLIS_IC_NT": "2"}), ("mkl", "2", {})]
)
def test_a_number_that_comes_first_ends_with_a_fork(
    prefix: Prefix, flavour: str, number: str, variables: dict[str, str]
) -> None:
    place = prefix("theano-1.0.5", flavour)
    # Each call runs on both threads.
    fixed = {THREADS[flavour]: "2", "THEANO_STACKS_THREADS": "fixed", "MKL_DYNAMIC": "FALSE"}
    library = place / "lib" / LIBRARIES[flavour]
    assert printed(place, "-c", IN_A_CHILD, library, number, **fixed, **variables) == "0\n"


IN_THE_PROGRAM = """
import ctypes, os, sys
os.environ["OMP_NUM_THREADS"] = "3"
name, number = sys.argv[2].split("=")
# As under a quota of one processor.
os.environ[name] = number
os.environ["THEANO_STACKS_NUM_THREADS"] = sys.argv[2] if sys.argv[3] == "environment" else ""
import numpy
numpy.ones((4, 4)).dot(numpy.ones((4, 4)))
library = ctypes.CDLL(sys.argv[1])
for get in ("MKL_Get_Max_Threads", "bli_thread_get_num_threads", "openblas_get_num_threads"):
    if hasattr(library, get):
        print(getattr(library, get)())
"""


@pytest.mark.parametrize(("of", "count"), [("environment", 3), ("person", 1)])
@pytest.mark.parametrize("flavour", THREADS)
def test_the_programs_own_number_comes_before_the_environments(
    prefix: Prefix, flavour: str, of: str, count: int
) -> None:
    place = prefix("theano-1.0.5", flavour)
    library = place / "lib" / LIBRARIES[flavour]
    if flavour == "openblas":
        count = min(count, len(os.sched_getaffinity(0)))
    words = ("-c", IN_THE_PROGRAM, library, f"{THREADS[flavour]}=1", of)
    assert int(printed(place, *words, MKL_DYNAMIC="FALSE")) == count


MORE_IN_A_CHILD = """
import ctypes, os, sys
import numpy
library = ctypes.CDLL(sys.argv[1])
matrix = numpy.ones((600, 600))
child = os.fork()
if not child:
    library.bli_thread_set_num_threads(ctypes.c_int64(2))
    matrix.dot(matrix)
    os._exit(len(os.listdir("/proc/self/task")))
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
"""


def test_a_child_of_blis_may_start_threads_if_its_parent_has_none(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "blis")
    words = ("-c", MORE_IN_A_CHILD, place / "lib" / LIBRARIES["blis"])
    fixed = {"BLIS_NUM_THREADS": "2", "THEANO_STACKS_THREADS": "fixed"}
    assert int(printed(place, *words, **fixed)) == 2


LAPACK = Path(__file__).with_name("lapack_driver.py")


def test_the_table_has_each_routine_s_arguments(prefix: Prefix) -> None:
    table = REPOSITORY / "recipes/blas-threads/src/fortran.c"
    assert result(prefix("theano-1.0.5", "openblas"), LAPACK, table) == []


@pytest.mark.parametrize("flavour", THREADS)
def test_numbers_are_right_and_info_is_the_library_s(prefix: Prefix, flavour: str) -> None:
    place = prefix("theano-1.0.5", flavour)
    threads = {THREADS[flavour]: "2"}
    assert result(place, LAPACK, "numbers", **threads) == [[], []]
    infos = result(place, LAPACK, "infos", **threads)
    assert infos["indefinite"] == 150
    assert infos == result(place, LAPACK, "infos", THEANO_STACKS_THREADS="fixed")


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
