"""Does the library use the threads that it was given, and no more?"""

from __future__ import absolute_import, division, print_function

import json
import os

from verify.core import machine, process
from verify.core.report import failed, passed, skipped

NAME = "threads"
VARIABLES = {
    "openblas": ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"),
    "mkl": ("MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    "blis": ("BLIS_NUM_THREADS", "OMP_NUM_THREADS"),
}
EVERY_VARIABLE = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
# One thread takes no processor time but its own; the clock ticks add some per cent. On a busy
# machine many threads may keep less than one processor busy, but not by the one that calls.
OTHERS_AT_MOST = 0.25


def ask_for(count):
    """Tell every library, before it is loaded, to use so many threads."""
    for name in EVERY_VARIABLE + ("GOTO_NUM_THREADS",):
        os.environ[name] = str(count)


def check(context):
    """Check the count that the library reports, and by processor time that one thread is one."""
    serving = context.serving
    if serving is None:
        return skipped(NAME, "no library was found to ask")
    asked, variable = requested(serving.name)
    said = "%s asks for %d" % (variable, asked[0]) if variable else "%d usable" % asked[0]
    if serving.threads is not None and serving.threads not in asked:
        return failed(
            NAME,
            "the library uses %d where %s" % (serving.threads, said),
            "export %s=%d" % (VARIABLES.get(serving.name, EVERY_VARIABLE[-1:])[0], asked[0]),
        )
    alone = measure(context, 1)
    if not isinstance(alone, dict):
        return failed(NAME, alone, "run it again with --debug; a BLAS that cannot be called alone")
    others = 1 - alone["own"] / alone["cpu"]
    if others > OTHERS_AT_MOST:
        return failed(
            NAME,
            "told to use one thread it has others do %.0f %% of the work" % (100 * others),
            "this build of the library does not obey %s: take another one"
            % " or ".join(VARIABLES.get(serving.name, EVERY_VARIABLE)),
        )
    plural = "" if serving.threads == 1 else "s"
    count = "%d thread%s" % (serving.threads, plural) if serving.threads else "count not told"
    together = measure(context, asked[0])
    busy = "%.1f processors busy" % _busy(together) if isinstance(together, dict) else together
    told = "told to use one: %.1f busy" % _busy(alone)
    return passed(NAME, "%s, %s; %s; %s" % (count, said, busy, told))


def requested(name):
    """Return ([acceptable counts], variable) for a library: a variable's number, else cores."""
    for variable in VARIABLES.get(name, EVERY_VARIABLE):
        value = os.environ.get(variable, "").split(",")[0].strip()
        if value.isdigit() and int(value) > 0:
            return [min(int(value), _most(name)), int(value)], variable
    counts = [machine.usable_cores(), machine.affine_cores()]
    if name == "mkl":
        # MKL counts no hyperthreads.
        counts.append(min(machine.physical_cores() or counts[0], counts[0]))
    return counts, None


def _most(name):
    # OpenBLAS starts no more threads than there are cores for it.
    return machine.affine_cores() if name == "openblas" else 1 << 30


def measure(context, count):
    """Run matrix products on `count` threads.

    Returns {wall, cpu, own} in seconds, `own` the processor time of the calling thread and `cpu`
    that of all; or, as text, why not.
    """
    environment = dict(os.environ)
    for name in EVERY_VARIABLE:
        environment[name] = str(count)
    environment.pop("GOTO_NUM_THREADS", None)
    through_numpy = not context.has_ldflags
    target = "numpy" if through_numpy else context.serving.path
    done = process.call(process.suite_command("threads-probe", target), 120, environment)
    if done.timed_out:
        return "matrix products did not end within 120 s"
    try:
        found = json.loads(done.output.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return "the library cannot be called alone: %s" % done.output.strip()[-200:]
    if not found["cpu"] > 0:
        return "the library took no processor time"
    return found


def _busy(found):
    return found["cpu"] / found["wall"]
