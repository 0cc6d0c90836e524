"""Check what several processes at a time cost, as the chains of a sampler; and what numba calls.

A library starts as many threads in each process as there are processors, so that chains disturb
one another.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os

from verify.blas import bindings, library, serving, threads
from verify.core import machine, process
from verify.core.fixes import package_fix
from verify.core.packages import is_installed
from verify.core.portable import monotonic
from verify.core.report import failed, passed, skipped

NAME, NUMBA = "chains", "numba"
# PyMC samples as many chains at a time, where there are so many processors.
MOST_CHAINS = 4
# Of the calls with one thread each to those as it is. Below, noise alone could be the reason.
LEAST_RATIO = 2
# Seconds: the probe imports SciPy and computes for a moment.
LIMIT = 60
SIZE = 150
LAPACK, PRODUCTS = "SciPy's Cholesky and solve", "products"


def check_numba(context):
    """Name the library that numba calls, which is SciPy's.

    Fails where the expectation has another one for all. In a diagnosis it fails where chains that
    run at the same time are at least LEAST_RATIO times as fast with one thread each.
    """
    linker = str(context.framework.flag("linker"))
    if not context.framework.runs_numba:
        return skipped(NUMBA, "programs run no numba here: linker=%s" % linker)
    importlib.import_module("scipy.linalg.cython_blas")
    libraries = library.libraries_of(each.library for each in bindings.bindings_of_package("scipy"))
    if not is_installed("numba"):
        return skipped(NUMBA, "numba is not installed")
    if not libraries:
        return skipped(NUMBA, "SciPy, whose BLAS numba calls, calls none")
    described = " and ".join(library.describe(item) for item in libraries)
    detail = "linker=%s runs numba, which calls SciPy's %s" % (linker, described)
    if context.expectation:
        expected = context.expectation["blas"]
        is_one = expected and expected.get("alone")
        if is_one and not all(library.is_expected(each.path, expected) for each in libraries):
            detail = "expected %s; %s" % (", ".join(expected["libraries"]), detail)
            fix = context.second_blas_fix or serving.packages_fix(context, ["scipy"])
            return failed(NUMBA, detail, fix)
        return passed(NUMBA, detail)
    if any(each.name == library.UNKNOWN for each in libraries):
        detail += ": not known as a library with fast kernels"
        return failed(NUMBA, detail, package_fix("SciPy", libraries[0]))
    count = threads_of_chains(libraries[0])
    if not count:
        return passed(NUMBA, detail)
    # Twice, each way in turn, so that what else the machine does slows both.
    ratios, busy = gain_of_one_thread(2, 0.5)
    ratio = ratios.get(LAPACK, 0)
    detail = "%s; %s" % (detail, _described(count, ratios, busy))
    if ratio < LEAST_RATIO:
        return passed(NUMBA, detail)
    return failed(
        NUMBA,
        detail,
        "set this before Python starts, where several chains or processes run:\n"
        "export %s=1" % threads.variables_of(libraries[0])[0],
    )


def check(context):
    """Say what the threads of the C linker's library and of SciPy's LAPACK cost several chains.

    It takes about a second. A high cost is advice: not all programs run several processes.
    """
    called = library.libraries_of(each.library for each in bindings.bindings_of_package("scipy"))
    counts = [(threads_of_chains(item), item) for item in [context.serving] + called if item]
    counts = [(count, item) for count, item in counts if count]
    if not counts:
        return skipped(NAME, "no library starts more threads than there are processors")
    count, largest = max(counts)
    linked = context.serving if context.has_ldflags else None
    measurable = linked and not library.is_part(linked)
    ratios, busy = gain_of_one_thread(1, 0.1, linked.path if measurable else None)
    sentence = _described(count, ratios, busy)
    if max(list(ratios.values()) or [0]) >= LEAST_RATIO:
        words = (sentence, threads.variables_of(largest)[0])
        context.advice.append("%s: programs with several processes need %s=1" % words)
    return passed(NAME, sentence)


def threads_of_chains(serving_library):
    """Return (chains at a time, the threads that they start); None where these are no more.

    None too of a library that has each call start as many threads as there are free processors.
    """
    chains = min(MOST_CHAINS, machine.usable_cores())
    if serving_library.adapts is not None or chains < 2 or (serving_library.threads or 1) < 2:
        return None
    return chains, chains * serving_library.threads


def _described(count, ratios, busy):
    """Return what chains start and what that costs, as text.

    ratios: {what: ratio}. busy: the processors that other programs keep busy.
    """
    text = "%d chains at a time start %d threads on %d processors" % (
        count + (machine.usable_cores(),)
    )
    if not ratios:
        return text + "; the cost is unknown: SciPy's Cholesky did not run"
    times = [
        "%s times as fast (%s)" % (("%.0f" if ratios[what] >= 10 else "%.1f") % ratios[what], what)
        for what in sorted(ratios)
    ]
    beside = ", while other programs keep %.1f busy" % busy if busy > threads.BUSY else ""
    words = (text, beside, " and ".join(times), SIZE)
    return "%s%s: with one thread each they are %s here (n=%d)" % words


def gain_of_one_thread(rounds, seconds, path=None):
    """Return ({what: ratio}, the processors that other programs keep busy meanwhile).

    ratio: how much faster processes that compute at a time are with one thread each; of what did
    not run it is missing. rounds: of both ways, which alternate. seconds: of each computation.
    path: of a BLAS library whose products count, too.
    """
    chains = min(MOST_CHAINS, machine.usable_cores())
    words = ["blas.chains:counted", str(chains), str(seconds)] + [path] * bool(path)
    one = dict(os.environ, **dict.fromkeys(threads.EVERY_VARIABLE, "1"))
    calls, before = {True: {}, False: {}}, machine.counters()
    for _ in range(rounds):
        for is_one in (False, True):
            counts, done = process.ask(LIMIT, one if is_one else dict(os.environ), *words)
            if counts is None and not done.timed_out:
                return {}, 0.0
            for what in counts or ():
                calls[is_one][what] = calls[is_one].get(what, 0) + counts[what]
    ratios = {
        what: count / max(calls[False].get(what, 0), 1)
        for what, count in calls[True].items()
        if count
    }
    return ratios, machine.noise_between(before, machine.counters())["others"]


def counted(chains, seconds, path=None):
    """Compute in so many processes at once, for some seconds; return {what: all their calls}.

    They factorise small matrices by SciPy, as a model with a Gaussian process does; then they
    multiply some with the BLAS library at `path`.
    """
    works = {}
    if is_installed("scipy"):
        works[LAPACK] = _factorisation()
    if path:
        works[PRODUCTS] = threads.product_of(path, SIZE)
    return {what: _calls(works[what], int(chains), float(seconds)) for what in works}


def _factorisation():
    numpy = importlib.import_module("numpy")
    linalg = importlib.import_module("scipy.linalg")
    matrix = numpy.eye(SIZE) + numpy.ones((SIZE, SIZE)) / SIZE

    def factorise():
        factor = linalg.cholesky(matrix, lower=True)
        linalg.solve_triangular(factor, matrix, lower=True)

    return factorise


def _calls(work, chains, seconds):
    """Return how many calls forked processes have done, all in the same time."""
    reader, writer = os.pipe()

    def count():
        calls, start = 0, monotonic()
        while monotonic() - start < seconds:
            work()
            calls += 1
        # Python 3.4 cannot format bytes.
        os.write(writer, ("%d\n" % calls).encode("ascii"))

    children = [process.in_child(count) for _ in range(chains)]
    os.close(writer)
    with os.fdopen(reader) as file:
        calls = sum(int(line) for line in file)
    # Then the system counts their time as this program's.
    for child in children:
        os.waitpid(child, 0)
    return calls
