"""What do the settings cost that make programs many times slower? Measured, not guessed."""

from __future__ import absolute_import, division, print_function

import json
import os

from verify.core import process, progress, surroundings
from verify.core.report import passed

NAME = "cost of settings"
# Seconds for a program that compiles and times one function.
LIMIT = 120
# As the frameworks have them by themselves.
DEFAULTS = {"floatX": "float32", "mode": "Mode", "linker": "cvm", "optimizer": "fast_run"}
SLOW = {
    "floatX": ("float16",),
    "mode": ("FAST_COMPILE", "DebugMode", "DEBUG_MODE", "NanGuardMode", "NANGUARDMODE"),
    "linker": ("py", "vm", "vm_nogc"),
    "optimizer": ("None", "merge", "fast_compile", "o0", "o1"),
}
# Of numba, and of Python's memory.
VARIABLES = ("NUMBA_", "PYTHONMALLOC", "PYTHONDEVMODE", "PYTHONTRACEMALLOC")
LEAST = 1.5


def check(context):
    """Time a small function as the settings have it, and without those that are slow."""
    found = slow_settings(context)
    if not found:
        return passed(NAME, "no setting is known to make programs many times slower")
    progress.note("timing a function with and without %s" % ", ".join(sorted(found)))
    seconds = []
    for number, environ in enumerate((dict(os.environ), _without(context, found))):
        folder = os.path.join(context.folder, "cost%d" % number)
        words = process.suite_command("cost-probe", context.framework.name, folder)
        done = process.call(words, LIMIT, environ)
        try:
            seconds.append(json.loads(done.output.strip().splitlines()[-1]))
        except (ValueError, IndexError):
            seconds.append(None)
    names = ", ".join("%s=%s" % each for each in sorted(found.items()))
    if None in seconds:
        return passed(NAME, "%s: a function could not be timed with and without it" % names)
    ratio = seconds[0] / seconds[1]
    sentence = "%s: a small function takes %.3g times as long as without it" % (names, ratio)
    if ratio >= LEAST:
        context.advice.append(sentence)
    return passed(NAME, sentence)


def slow_settings(context):
    """Return {name: value} of the flags and variables in force that are known to be slow."""
    found = {}
    for flag in SLOW:
        value = context.framework.flag(flag)
        if value is not None and str(value) in SLOW[flag]:
            found[flag] = str(value)
    if context.framework.runs_numba or context.framework.name == "numpy":
        names = VARIABLES
    else:
        names = VARIABLES[1:]
    for name, value in os.environ.items():
        rule = surroundings.rule_of(name, value)
        if name.startswith(names) and rule and rule.action == surroundings.NAMED and value:
            found[name] = value
    return found


def _without(context, found):
    """Return the variables of a program without the slow settings."""
    environ = {name: os.environ[name] for name in os.environ if name not in found}
    variable = context.framework.flags_variable
    flags = [environ.get(variable, "")]
    # The last value of a flag counts.
    flags += ["%s=%s" % (name, DEFAULTS[name]) for name in sorted(found) if name in DEFAULTS]
    environ[variable] = ",".join(flag for flag in flags if flag)
    return environ
