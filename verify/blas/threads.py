"""Check that the BLAS library uses the requested number of threads, also after a fork."""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import resource
import select
import signal
import time

from verify.blas import library
from verify.core import machine, process, surroundings
from verify.core.fixes import fix_of_words, library_fix
from verify.core.report import failed, passed, skipped

NAME = "threads"
VARIABLES = {
    "openblas": ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"),
    "mkl": ("MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    "blis": ("BLIS_NUM_THREADS", "OMP_NUM_THREADS"),
}
# Of recipes/blas-threads, and what it reads.
LIBRARY = "libblas_threads"
ADAPT_VARIABLE, FIXED = "THEANO_STACKS_THREADS", "fixed"
# Processors that other programs keep busy, from which on a library may give way to them.
BUSY = 0.5
EVERY_VARIABLE = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
# The most that threads other than the calling one may take of the processor time, as a share, where
# one thread is requested. Clock ticks account for some per cent.
OTHERS_AT_MOST = 0.25
# The least that they take where several are requested: of two threads, each takes half.
OTHERS_AT_LEAST = 0.1
# Of OpenMP: the library reports its own number, and gets this one.
LIMIT_VARIABLE = "OMP_THREAD_LIMIT"
# So large that it runs on all threads, also behind libblas_threads (its MATRIX_LARGE).
SIZE = 1100
# Seconds of multiplying; the most where threads are awaited: libblas_threads begins on one thread
# where a processor was busy a moment ago, as by the programs of this suite.
LEAST, MOST = 0.2, 1.0
# Seconds for one product of a forked process. It takes tenths of one, some of a slow library, or
# for ever.
LIMIT = 15
# The calling thread, see getrusage(2). Python 2's module does not define it.
RUSAGE_THREAD = 1


def set_variables(count):
    """Set the variables of every library that is loaded later to a number of threads."""
    for name in EVERY_VARIABLE + ("GOTO_NUM_THREADS",):
        os.environ[name] = str(count)


def variables_of(serving):
    """Return the variables that set the number of threads of a Library, the first one first."""
    return VARIABLES.get(serving.name, EVERY_VARIABLE[-1:])


def start(context):
    """Start to measure one thread in a process of its own; return the function that checks."""
    serving = context.serving
    if serving is None:
        return lambda: skipped(NAME, "no library was found")
    alone = None if library.is_part(serving) else _start(context, 1)
    return lambda: check(context, alone)


def check(context, alone):
    """Check the number that the library reports, and by processor time that so many threads work.

    alone: the process that measures one thread; None of a part of MKL, which cannot be loaded.
    After a product on several threads, a forked process must end its own where libblas_threads is
    expected, which sees to that. Elsewhere it is no fault: not all programs fork.
    """
    serving, usable = context.serving, machine.usable_cores()
    counts, variable = requested(serving)
    reason = _reason(counts, variable, usable)
    # The baseline's libraries are as pip installs them: they know no quota.
    expects = serving.threads is not None and not context.is_baseline
    # An OpenBLAS may have been built for fewer threads, and not say so.
    says_nothing = serving.name == "openblas" and serving.most is None and not variable
    is_of_few = expects and says_nothing and 1 < serving.threads < counts[0]
    if expects and serving.threads not in counts and not is_of_few:
        words = (variables_of(serving)[0], counts[0])
        fix = _limit_fix(counts[0]) or "set this before Python starts:\nexport %s=%d" % words
        return failed(NAME, "the library uses %d where %s" % (serving.threads, reason), fix)
    if variable and counts[0] < usable:
        context.advice.append(
            "%s=%s: the BLAS library uses %d of %d processors"
            % (variable, os.environ[variable], counts[0], usable)
        )
    plural = "" if serving.threads == 1 else "s"
    count = "%d thread%s" % (serving.threads, plural) if serving.threads else "number unknown"
    if alone is None:
        return passed(NAME, "%s, %s; a part of MKL, not measured alone" % (count, reason))
    alone, fault = _times(alone)
    if fault:
        return failed(NAME, fault, fix_of_words(context, fault) or library_fix(context))
    if _others(alone) > OTHERS_AT_MOST:
        return failed(
            NAME,
            "with one thread requested, by %s, other threads do %.0f %% of the work"
            % (VARIABLES.get(serving.name, EVERY_VARIABLE)[0], 100 * _others(alone)),
            library_fix(context),
        )
    before, is_several = machine.counters(), expects and min([serving.threads] + counts) > 1
    together, fault = _times(_start(context, counts[0]))
    busy = machine.noise_between(before, machine.counters())["others"]
    is_idle = is_several and together and _others(together) < OTHERS_AT_LEAST
    if is_idle and serving.adapts and busy > BUSY:
        # It gives way to programs that compute: ask it not to.
        together, fault = _times(_start(context, counts[0], **{ADAPT_VARIABLE: FIXED}))
        is_idle = together and _others(together) < OTHERS_AT_LEAST
    if is_idle:
        detail = "%s, %s; but the calling one does all the work" % (count, reason)
        return failed(NAME, detail, _limit_fix(counts[0]) or library_fix(context))
    if together and together["fork"]:
        words = (counts[0], together["fork"])
        detail = "after a product on %d threads, a forked process %s" % words
        expected = context.expectation and context.expectation["blas"]
        if expected and any(LIBRARY in name for name in expected["libraries"]):
            return failed(NAME, detail, library_fix(context))
        needed = variables_of(serving)[0]
        context.advice.append("%s: multiprocessing needs %s=1" % (detail, needed))
    words = (count, reason, fault or "%.1f processors busy" % _busy(together), _busy(alone))
    detail = "%s, %s; %s; with one requested: %.1f" % words
    return passed(NAME, detail + _by_call(serving))


def _limit_fix(count):
    """Return how to undo what leaves fewer threads than `count`, None if no variable does."""
    values = [(name, os.environ[name]) for name in surroundings.suspects(os.environ)]
    found = [
        (name, value)
        for name, value in values
        if surroundings.reason_of(name, value) == surroundings.FEWER
        and not (name == LIMIT_VARIABLE and value.isdigit() and int(value) >= count)
    ]
    if not found:
        return None
    texts, names = ["%s=%s" % each for each in found], [name for name, _ in found]
    return "%s %s:\nunset %s" % (" and ".join(texts), surroundings.FEWER, " ".join(names))


def _reason(counts, variable, usable):
    """Return what says how many threads the library is to use."""
    quota, path = machine.quota_and_file()
    if variable and quota and counts[-1] == usable:
        # The environment sets the variable by the limit; nobody else need have.
        words = (quota, path, variable, counts[-1])
        return "the container's limit is %g processors (%s): %s=%d" % words
    if variable:
        return "%s asks for %d" % (variable, counts[-1])
    fewer = ", and it can use %d" % counts[0] if counts[0] < usable else ""
    return "%d usable%s" % (usable, fewer)


def _by_call(serving):
    """Return, as the end of a detail, whether each call gets a number of its own."""
    if serving.threads == 1 or serving.adapts is None:
        return ""
    if not serving.adapts:
        return "; the same for each call: %s=%s" % (ADAPT_VARIABLE, FIXED)
    wish = os.environ.get(ADAPT_VARIABLE, "")
    ignored = "; %s=%s has no meaning" % (ADAPT_VARIABLE, wish) if wish else ""
    return "; fewer for small work, and on a busy machine" + ignored


def requested(serving):
    """Return ([acceptable numbers of threads], variable that sets it or None) for a Library."""
    cores = machine.affine_cores()
    most = {"openblas": [min(cores, serving.most or cores)]}
    # MKL does not count hyperthreads.
    most["mkl"] = [cores, min(machine.physical_cores() or cores, cores)]
    most = most.get(serving.name, [1 << 30])
    for variable in VARIABLES.get(serving.name, EVERY_VARIABLE):
        value = os.environ.get(variable, "").split(",")[0].strip()
        if value.isdigit() and int(value) > 0:
            return [min(int(value), each) for each in most] + [int(value)], variable
    return [min(machine.usable_cores(), each) for each in most], None


def _start(context, count, **more):
    """Start to multiply on `count` threads in a process of their own. more: variables of it."""
    variables = dict(os.environ, **dict(dict.fromkeys(EVERY_VARIABLE, str(count)), **more))
    variables.pop("GOTO_NUM_THREADS", None)
    target = context.serving.path if context.has_ldflags else "numpy"
    path = os.path.join(context.folder, "threads-%d.txt" % count)
    words = process.suite_command("probe", "blas.threads:measured", target)
    return process.Started(words, path, variables)


def _times(started):
    """Return (the result of `measured`, None), or (None, why the products did not run)."""
    done = started.finish(120)
    times = process.answer(done)
    if done.timed_out:
        return None, "matrix products did not end within 120 s"
    if times is None:
        return None, "the library cannot be called by itself: %s" % done.output.strip()[-200:]
    return (times, None) if times["cpu"] > 0 else (None, "the library took no processor time")


def _others(times):
    """Return the share of the processor time that threads other than the calling one took."""
    return 1 - times["own"] / times["cpu"]


def _busy(times):
    return times["cpu"] / times["wall"]


def product_of(path, size=SIZE):
    """Return a function without arguments that multiplies two float64 matrices of a size.

    path: of a library, or `numpy` for the one that NumPy calls.
    """
    if path == "numpy":
        import numpy

        matrix = numpy.ones((size, size))
        return lambda: numpy.dot(matrix, matrix)
    handle = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    matrices = [(ctypes.c_double * (size * size))() for _ in range(3)]
    n, one = ctypes.byref(ctypes.c_int(size)), ctypes.byref(ctypes.c_double(1))
    a, b, c = matrices
    letter = ctypes.c_char_p(b"N")
    return lambda: handle.dgemm_(letter, letter, n, n, n, one, a, n, b, n, one, c, n)


def processor_time(who=resource.RUSAGE_SELF):
    """Return the seconds of processor time of this process, or of RUSAGE_THREAD."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _clocks():
    """Return the seconds: `wall`; of processor time `cpu`, all threads', and `own`, this one's."""
    cpu, own = (processor_time(who) for who in (resource.RUSAGE_SELF, RUSAGE_THREAD))
    return {"wall": time.time(), "cpu": cpu, "own": own}


def fault_in_child(product):
    """Return what a process that is forked now does instead of multiplying, or ""."""
    reader, writer = os.pipe()
    child = process.in_child(product)
    os.close(writer)
    # The end of the child closes the pipe.
    ended = select.select([reader], [], [], LIMIT)[0]
    os.close(reader)
    if not ended:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if not ended:
        return "never ends its own"
    return "crashes in its own" if status else ""


def measured(path):
    """Warm up, multiply, fork; return the times of multiplying.

    path: of a library, or `numpy`. `wall` has the seconds that it ran, `cpu` and `own` those of
    processor time of all threads and of the calling one, and `fork` what a forked process did
    instead of multiplying.
    """
    product = product_of(path)
    product()
    is_single, calls = os.environ.get(EVERY_VARIABLE[-1]) == "1", 0
    before = _clocks()
    while True:
        product()
        calls += 1
        times = {name: now - before[name] for name, now in _clocks().items()}
        is_seen = is_single or _others(times) > 2 * OTHERS_AT_LEAST
        if calls > 1 and times["wall"] > (LEAST if is_seen else MOST):
            break
    return dict(times, fork=fault_in_child(product))
