"""PyTensor's linkers beside one another: what each costs to compile, and what it gains."""

from __future__ import absolute_import, division, print_function

import json
import os

from verify.core import packages, process, progress, repair
from verify.core.compiling import compile_flags
from verify.core.fixes import setting_fix
from verify.core.packages import is_installed
from verify.core.report import failed, passed, timing

NAME = "linkers"
# Linker: the module that it needs.
LINKERS = (("cvm", None), ("numba", "numba"), ("jax", "jax"))
# Seconds; numba compiles the model in 30 s on a free processor.
LIMIT = 600
# Of the values, relative. The model's is a sum of 200 terms of one sign in float64, whose rounding
# errors, in any order, come to 5e-14 at most. float32 would be off by 1e-8 or more.
TOLERANCE = 1e-12


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
            detail = "linker=%s fails: %s" % (linker, output[-1000:])
            return failed(NAME, detail, _fix(context, module)), timings
        timings += [
            timing("model, %s: compile and first call" % linker, "s", [result["compile"]]),
            timing("model, %s: step" % linker, "ns", [1e9 * step for step in result["step"]]),
            timing("model, %s: peak memory" % linker, "MB", [result["peak"] / 1e6]),
        ]
    values = [(linker, results[linker]["value"]) for linker in sorted(results)]
    if not all(_are_close(value, values[0][1]) for _, value in values):
        shown = ", ".join("%s %r" % each for each in values)
        fix = setting_fix(context, "linker", "cvm")
        return failed(NAME, "their values differ: " + shown, fix), timings
    detail = " and ".join(sorted(results)) + " compute the same value"
    if missing:
        detail += "; not installed: " + ", ".join(missing)
    return passed(NAME, detail), timings


def _fix(context, module):
    """Return how to make a linker work that needs a module, or nothing but the framework."""
    if context.expectation:
        return repair.fix(context.expectation)
    return "install it again:\n%s %s" % (
        packages.pip_command(again=True),
        module or context.framework.name,
    )


def _are_close(value, other):
    """Return whether two values differ by rounding alone; false for one that is no number."""
    return abs(value - other) <= TOLERANCE * abs(other)


def _environment(context, linker):
    """Return the variables of a process that finds no compiled modules."""
    variable = context.framework.flags_variable
    folder = os.path.join(context.folder, linker)
    flags = [os.environ.get(variable), compile_flags(context.framework.name, folder)]
    return dict(os.environ, **{variable: ",".join(flag for flag in flags if flag)})
