"""Each call of BLAS and LAPACK gets its number of threads: values, counts, `info`, forks."""

import os
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import Prefix
from integration.programs import THREADS, printed, result
from stacks.core.disk import REPOSITORY

LIBRARIES = {"blis": "libblis.so.4", "mkl": "libmkl_rt.so.3", "openblas": "libopenblas.so.0"}
DRIVER = Path(__file__).with_name("linear_algebra_driver.py")


def driven(place: Path, **environ: str) -> dict[str, Any]:
    found: dict[str, Any] = result(
        place, DRIVER, "counts", REPOSITORY, place / "lib/libblas_threads.so.1", **environ
    )
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
PRODUCTS = {
    "setup": "matrix = numpy.ones((400, 400))",
    "right": "matrix.dot(matrix)[0, 0] == 400",
    "call": "matrix.dot(matrix)",
}
LARGE = {
    "setup": "matrix = numpy.ones((900, 900))\nfor _ in range(3): matrix.dot(matrix)",
    "right": "matrix.dot(matrix)[0, 0] == 900",
    "call": "pass",
}
LAPACK = {
    "setup": "matrix = numpy.eye(300) + 0.1",
    "right": "numpy.allclose(matrix.dot(numpy.linalg.inv(matrix)), numpy.eye(300))",
    "call": "numpy.linalg.solve(matrix, matrix)",
}
COMPLEX = {
    "setup": "vector = numpy.ones(200000, complex)",
    "right": "numpy.vdot(vector, vector) == len(vector)",
    "call": "numpy.vdot(vector, vector)",
}
SOLVE = "numpy.linalg.solve(matrix, matrix)"
# NumPy 1.13 calls no BLAS when it is imported.
AFTER_LAPACK = {
    "setup": f"matrix = numpy.eye(900) + 0.1\n{SOLVE}",
    "right": f"{SOLVE} is not None and matrix.dot(matrix).shape == (900, 900)",
    "call": "pass",
}


@pytest.mark.parametrize(
    ("framework", "flavour", "policy", "program", "forks", "others"),
    [
        *(
            ("theano-1.0.5", flavour, policy, program, forks, others)
            for flavour in THREADS
            for policy in ("", "fixed")
            for program, forks, others in ((LARGE, 3, 0), (PRODUCTS, 40, 4))
        ),
        *(("theano-1.0.5", flavour, "", LAPACK, 20, 2) for flavour in THREADS),
        ("theano-1.0.5", "openblas", "", COMPLEX, 100, 1),
        ("theano-0.8.2", "mkl", "", AFTER_LAPACK, 1, 0),
    ],
)
def test_neither_a_forked_process_nor_its_parent_waits_for_ever(
    prefix: Prefix,
    framework: str,
    flavour: str,
    policy: str,
    program: dict[str, str],
    forks: int,
    others: int,
) -> None:
    """Beside products, LAPACK and complex products of other threads, and after large ones."""
    environ = {THREADS[flavour]: "2", "THEANO_STACKS_THREADS": policy}
    code = FORKS.format(**program, forks=forks, others=others)
    assert printed(prefix(framework, flavour), "-c", code, **environ) == "[0]\n"


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
# Each call runs on both threads.
FIXED = {"THEANO_STACKS_THREADS": "fixed"}
AT_MOST = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("flavour", "program", "words", "variables", "printed_number"),
    [
        # A number that comes first ends with a fork.
        ("blis", IN_A_CHILD, [""], {**FIXED, "BLIS_NUM_THREADS": "2", "BLIS_IC_NT": "2"}, 0),
        ("mkl", IN_A_CHILD, ["2"], {**FIXED, "MKL_NUM_THREADS": "2"}, 0),
        # A child of BLIS may start threads if its parent has none.
        ("blis", MORE_IN_A_CHILD, [], {**FIXED, "BLIS_NUM_THREADS": "2"}, 2),
        # The program's own number comes before the environment's.
        *(
            (flavour, IN_THE_PROGRAM, [f"{variable}=1", of], {}, count)
            for flavour, variable in THREADS.items()
            for of, count in (
                ("environment", 3 if flavour != "openblas" else min(3, AT_MOST)),
                ("person", 1),
            )
        ),
    ],
)
def test_a_number_that_a_program_sets(
    prefix: Prefix,
    flavour: str,
    program: str,
    words: list[str],
    variables: dict[str, str],
    printed_number: int,
) -> None:
    place = prefix("theano-1.0.5", flavour)
    words = ["-c", program, str(place / "lib" / LIBRARIES[flavour]), *words]
    assert int(printed(place, *words, MKL_DYNAMIC="FALSE", **variables)) == printed_number


def test_the_table_has_each_routine_s_arguments(prefix: Prefix) -> None:
    table = REPOSITORY / "recipes/blas-threads/src/fortran.c"
    assert result(prefix("theano-1.0.5", "openblas"), DRIVER, "table", table) == []


@pytest.mark.parametrize("flavour", THREADS)
def test_info_is_the_library_s(prefix: Prefix, flavour: str) -> None:
    place = prefix("theano-1.0.5", flavour)
    words = (DRIVER, "infos", place / "lib/libblas_threads.so.1")
    infos = result(place, *words, **{THREADS[flavour]: "2"})
    assert (infos["indefinite"], infos["adapt"]) == (150, 1)
    assert result(place, *words, THEANO_STACKS_THREADS="fixed") == {**infos, "adapt": 0}


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
