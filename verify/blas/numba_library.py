"""Check which library PyTensor's default linker, numba, calls, and what its threads cost here."""

from __future__ import absolute_import, division, print_function

import fnmatch
import importlib
import os

from verify.blas import bindings, library, serving, threads
from verify.core import machine, process
from verify.core.clock import monotonic
from verify.core.packages import is_installed
from verify.core.report import failed, passed, skipped

NAME = "numba"
# PyMC samples as many chains at a time, where there are so many processors.
MOST_CHAINS = 4
ROUNDS = 2
# Of the calls with one thread each to those as it is. Below, noise alone could be the reason.
LEAST_RATIO = 2
# Seconds: the probe imports SciPy and computes for half a second.
LIMIT = 60
SIZE = 150
SECONDS = 0.5


def check(context):
    """Name the library that numba calls, which is SciPy's.

    Fails where the expectation has another one for all. In a diagnosis it fails where chains that
    run at the same time are at least LEAST_RATIO times as fast with one thread each.
    """
    linker = str(context.framework.flag("linker"))
    if not context.framework.runs_numba:
        return skipped(NAME, "linker=%s runs C here: numba is not used" % linker)
    importlib.import_module("scipy.linalg.cython_blas")
    calls = bindings.bindings_of(bindings.modules_of("scipy"))
    paths = sorted({binding.library for binding in calls})
    if not is_installed("numba") or not paths:
        return skipped(NAME, "numba is not installed, or SciPy calls no BLAS")
    libraries = library.merged([library.identify(path) for path in paths])
    described = " and ".join(library.describe(item) for item in libraries)
    detail = "linker=%s runs numba, which calls SciPy's %s" % (linker, described)
    if not context.expectation:
        return _diagnosis(libraries[0], detail)
    expected = context.expectation["blas"]
    if expected and expected.get("alone"):
        names = [os.path.basename(item.path) for item in libraries]
        patterns = expected["libraries"]
        if not all(any(fnmatch.fnmatch(name, each) for each in patterns) for name in names):
            detail = "expected %s; %s" % (", ".join(patterns), detail)
            return failed(NAME, detail, serving.packages_fix(context, ["scipy"]))
    return passed(NAME, detail)


def _diagnosis(serving, detail):
    """Return the check of somebody else's environment, with what the library's threads cost."""
    chains = min(MOST_CHAINS, machine.usable_cores())
    adapts = hasattr(bindings.loaded(serving.path), "blas_threads_adapt")
    if adapts or chains < 2 or not serving.threads or serving.threads < 2:
        return passed(NAME, detail)
    detail += "; %d chains at a time start %d threads on %d processors" % (
        chains,
        chains * serving.threads,
        machine.usable_cores(),
    )
    ratio = gain_of_one_thread(chains)
    if ratio is None:
        return passed(NAME, detail + "; the cost is unknown: SciPy's Cholesky did not run")
    detail += ": with one thread each they are %.1f times as fast here (Cholesky and solve, n=150)"
    detail %= ratio
    if ratio < LEAST_RATIO:
        return passed(NAME, detail)
    variable = threads.VARIABLES.get(serving.name, threads.EVERY_VARIABLE[-1:])[0]
    return failed(
        NAME,
        detail,
        "set this before Python starts, where several chains or processes run:\nexport %s=1"
        % variable,
    )


def gain_of_one_thread(chains):
    """Return how much faster processes that compute at a time are with one thread each, or None.

    Both ways alternate, so that what else the machine does slows both.
    """
    one = dict(os.environ, **dict.fromkeys(threads.EVERY_VARIABLE, "1"))
    calls = {True: 0, False: 0}
    for _ in range(ROUNDS):
        for is_one in (False, True):
            command = process.suite_command("chains-probe", str(chains))
            done = process.call(command, LIMIT, one if is_one else dict(os.environ))
            try:
                calls[is_one] += int(done.output.strip().splitlines()[-1])
            except (ValueError, IndexError):
                if done.status or not done.timed_out:
                    return None
    return calls[True] / max(calls[False], 1) if calls[True] else None


def main(argv):
    """Fork the processes, let all begin at once, and print the sum of their calls."""
    import numpy
    import scipy.linalg

    matrix = numpy.eye(SIZE) + numpy.ones((SIZE, SIZE)) / SIZE
    ready, begin = os.pipe()
    readers = []
    for _ in range(int(argv[0])):
        reader, writer = os.pipe()
        readers.append(reader)
        parent = os.getpid()
        if not os.fork():
            process.end_with_parent(parent)
            os.close(begin)
            # The end of the pipe: the parent has closed it.
            os.read(ready, 1)
            os.write(writer, b"%d" % _calls(scipy.linalg, matrix))
            os._exit(0)
        os.close(writer)
    os.close(begin)
    print(sum(int(os.read(reader, 20) or b"0") for reader in readers))


def _calls(linalg, matrix):
    calls, start = 0, monotonic()
    while monotonic() - start < SECONDS:
        factor = linalg.cholesky(matrix, lower=True)
        linalg.solve_triangular(factor, matrix, lower=True)
        calls += 1
    return calls
