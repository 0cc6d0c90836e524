"""PyTensor's linkers beside one another: what each costs to compile, and what it gains."""

from __future__ import absolute_import, division, print_function

import json
import os

from verify.core import process, progress
from verify.core.framework import is_installed
from verify.core.report import failed, passed, timing

NAME = "linkers"
# Linker: the module that it needs.
LINKERS = (("cvm", None), ("numba", "numba"), ("jax", "jax"))
# Seconds; numba compiles the model in 30 s on a free processor.
LIMIT = 600


def measure(context):
    """Compile and time a small model with each installed linker; return (check, [Timing]).

    The check fails where a linker fails, or computes another value than the first one.
    """
    results, timings, missing = {}, [], []
    for linker, module in LINKERS:
        if module and not is_installed(module):
            missing.append(linker)
            continue
        progress.note("compiling a model with the linker %s" % linker)
        done = process.call(
            process.suite_command("linkers-probe", linker), LIMIT, _environment(context, linker)
        )
        try:
            results[linker] = result = json.loads(done.output.strip().splitlines()[-1])
        except (ValueError, IndexError):
            output = "it ran for %d s" % LIMIT if done.timed_out else done.output.strip()
            fix = "the end of its output: %s" % output[-1000:]
            return failed(NAME, "linker=%s fails" % linker, fix), timings
        timings += [
            timing("model, %s: compile and first call" % linker, "s", [result["compile"]]),
            timing("model, %s: step" % linker, "ns", [1e9 * step for step in result["step"]]),
            timing("model, %s: peak memory" % linker, "MB", [result["peak"] / 1e6]),
        ]
    values = ["%s %.9g" % (linker, results[linker]["value"]) for linker in sorted(results)]
    if len({value.split()[1] for value in values}) > 1:
        fix = "set the linker whose value is right: linker=NAME in " + context.framework.rc_file
        return failed(NAME, "their values differ: " + ", ".join(values), fix), timings
    detail = " and ".join(sorted(results)) + " compute the same value"
    if missing:
        detail += "; not installed: " + ", ".join(missing)
    return passed(NAME, detail), timings


def _environment(context, linker):
    """Return the variables of a process that finds no compiled modules."""
    variable = context.framework.flags_variable
    flags = [os.environ.get(variable), "base_compiledir=" + os.path.join(context.folder, linker)]
    return dict(os.environ, **{variable: ",".join(flag for flag in flags if flag)})
