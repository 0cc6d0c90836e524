"""Are the environment's settings in force, what overrides them, and what do slow ones cost?"""

from __future__ import absolute_import, division, print_function

import os
import re
import sys
import tempfile

from verify import context as contexts
from verify.blas import threads
from verify.core import process, progress, surroundings
from verify.core.configuration import source_of, sources_of
from verify.core.fixes import compiler_fix, own_fix, undo_fix, without_flags
from verify.core.portable import seconds_of, text
from verify.core.report import failed, passed

NAME = "settings"
# Where modules are compiled is the user's choice, and the suite's own folder is another one.
OWN = ("base_compiledir", "compiledir")
# {flag: {value: what it does}}.
LOOP = "runs the loop over operations in Python"
TESTS = ("FAST_COMPILE", "DebugMode", "DEBUG_MODE", "NanGuardMode", "NANGUARDMODE")
SLOW = {
    "mode": dict.fromkeys(TESTS, "is for tests of a graph, not for speed"),
    "linker": {"py": "runs no C code", "vm": LOOP, "vm_nogc": LOOP},
    "optimizer": dict.fromkeys(
        ("None", "merge", "fast_compile", "o0", "o1"), "leaves out optimisations"
    ),
    "cmodule.remove_gxx_opt": {"True": "has g++ compile without optimisation"},
}
UNOPTIMISED = re.compile("-O[01g]?$")
COST = "cost of settings"
NOT_SLOW = "no setting is known to make programs many times slower"
# Seconds for a program that compiles and times one function.
LIMIT = 120
# As the frameworks have them by themselves.
DEFAULTS = {"floatX": "float32", "mode": "Mode", "linker": "cvm", "optimizer": "fast_run"}
# These are no fault of the settings, or cost more than one would think.
COSTLY = {flag: SLOW.get(flag, ("float16",)) for flag in DEFAULTS}
# What these cost depends on the value: each that a person has set is measured.
MEASURED = ("gcc.cxxflags", "optimizer_excluding")
# Of numba, and of Python's memory.
VARIABLES = ("NUMBA_", "PYTHONMALLOC", "PYTHONDEVMODE", "PYTHONTRACEMALLOC")
LEAST = 1.5
SIZE, LARGE, SAMPLES = 200, 1000, 5
# Seconds after which one sample is enough.
LONG = 2.0


def check(context):
    """Check the flags of the expectation, and that none turns compiled code off."""
    expected = context.expectation["flags"] if context.expectation else {}
    flags = {flag: value for flag, value in expected.items() if flag not in OWN}
    # Each with its fix.
    faults = _differences(context, flags)
    for flag, slow in sorted(SLOW.items()):
        value, fix = context.framework.flag(flag), undo_fix(context, flag)
        # Without a compiler the framework itself takes another linker.
        if flag not in flags and value is not None and str(value) in slow and fix:
            faults.append(("%s=%s %s" % (flag, value, slow[str(value)]), fix))
    # The last one counts, and the framework's own -O3 comes before.
    words = str(context.framework.flag("gcc.cxxflags") or "").split()
    level = ([word for word in words if word.startswith("-O")] or [""])[-1]
    if UNOPTIMISED.match(level) and "gcc.cxxflags" not in flags:
        fault = "gcc.cxxflags has %s, by which g++ leaves loops as they are" % level
        faults.append((fault, without_flags(context, UNOPTIMISED.pattern)))
    if "cxx" not in flags and not context.framework.flag("cxx"):
        faults.append(("cxx is empty: nothing can be compiled", compiler_fix(context)))
    if faults:
        fixes = [fix for _, fix in faults]
        fixes = [fix for number, fix in enumerate(fixes) if fix not in fixes[:number]]
        return failed(NAME, "; ".join(fault for fault, _ in faults), "\n".join(fixes))
    details = ["%d in force" % len(flags) if flags else "no setting turns compiled code off"]
    return passed(NAME, "; ".join(details + surroundings.remarks(os.environ, sys.prefix)))


def _differences(context, flags):
    """Return [(what differs from the flags of the expectation, fix)]."""
    framework, faults = context.framework, []
    for flag in sorted(flags):
        value = framework.flag(flag)
        if flag == "device" and context.requested_device:
            # The suite itself runs on the host.
            value = source_of(context, flag)[1]
            value = flags[flag] if value is None else value
            if text(value) == context.requested_device:
                continue
        if value is None and next(sources_of(context, flag, own=True), None):
            fix = "correct %s below `flags:` in the variant's file, then lock and build it" % flag
            words = (framework.name, framework.version, flag)
            faults.append(("%s %s has no flag %s" % words, fix))
        elif _normal(value) != _normal(flags[flag]):
            source = source_of(context, flag)[0] or "nothing sets it"
            words = (flag, text(value) or "empty", flags[flag], source)
            faults.append(("%s is %s, not %s (%s)" % words, own_fix(context, flag)))
    return faults


def in_force(context):
    """Return the settings in force, for the report."""
    flags = {name: name for name in ("floatX", "cxx", "mode", "linker")}
    flags["ldflags"] = "blas.ldflags"
    found = {name: text(context.framework.flag(flags[name]) or "") for name in flags}
    return dict(found, threads=context.serving.threads if context.serving else None)


def _normal(value):
    value = re.sub(r"\s+", " ", text(value)).strip()
    return {"true": "True", "false": "False"}.get(value.lower(), value)


def check_cost(context):
    """Time a small function as the settings have it, and without those that are slow.

    With openmp=True, a process is forked after it.
    """
    sentences = [_openmp(context)] if context.framework.flag("openmp") else []
    found = slow_settings(context)
    if found:
        sentences.append(_cost(context, found))
    return passed(COST, "; ".join(sentences) or NOT_SLOW)


def _cost(context, found):
    """Return what slow settings cost, as a sentence, which is advice if it is much."""
    progress.note("timing a function with and without %s" % ", ".join(sorted(found)))
    names = ", ".join("%s=%s" % each for each in sorted(found.items()))
    without = {name: os.environ[name] for name in os.environ if name not in found}
    variable = context.framework.flags_variable
    # The environment's own values; the last one of a flag counts.
    own = dict(DEFAULTS, **dict.fromkeys(MEASURED, ""))
    own.update((context.expectation or {}).get("flags", {}))
    flags = [
        "%s=%s" % (context.framework.spelled(name), own[name].replace(",", "\\,"))
        for name in sorted(found)
        if name in own
    ]
    without[variable] = ",".join(filter(None, [without.get(variable)] + flags))
    # The environment's Python may set them again: the program leaves them out.
    with_them = _probed(context, "timed", dict(os.environ))
    seconds = with_them, _probed(context, "timed", without, *sorted(found))
    if None in seconds:
        return "%s: a function could not be timed with and without it" % names
    ratio = seconds[0] / seconds[1]
    times = "%.1f" % ratio if ratio < 10 else "%.0f" % ratio
    sentence = "%s: a small function takes %s times as long as without it" % (names, times)
    if ratio >= LEAST:
        context.advice.append(sentence)
    return sentence


def _openmp(context):
    """Return what a process that is forked after a loop of OpenMP does, which may be advice."""
    progress.note("forking a process with openmp=True")
    name = "%s=True" % context.framework.spelled("openmp")
    fault = _probed(context, "forked", dict(os.environ))
    if not fault:
        return "%s: a forked process %s" % (name, "was not tried" if fault is None else "ends")
    fix = undo_fix(context, "openmp") or "set it to False"
    sentence = "%s: a forked process %s loops; before you use multiprocessing, %s"
    sentence %= (name, fault, fix.replace("\n", " "))
    context.advice.append(sentence)
    return sentence


def _probed(context, function, environ, *more):
    """Return the result of a function below in a process with these variables, None if it fails."""
    folder = tempfile.mkdtemp(dir=context.folder)
    words = ("checks.settings:" + function, context.framework.name, folder) + more
    return process.ask(LIMIT, environ, *words)[0]


def slow_settings(context):
    """Return {name: value} of the flags and variables in force that are known to be slow."""
    values = {flag: context.framework.flag(flag) for flag in COSTLY}
    values = {flag: str(value) for flag, value in values.items() if value is not None}
    found = {flag: value for flag, value in values.items() if value in COSTLY[flag]}
    for flag in MEASURED:
        value = source_of(context, flag)[1]
        if value and context.framework.flag("cxx"):
            found[flag] = value
    # Those of numba count where programs run it.
    names = VARIABLES if context.framework.runs_numba else VARIABLES[1:]
    known = [name for name in surroundings.suspects(os.environ) if name.startswith(names)]
    found.update((name, os.environ[name]) for name in known)
    return found


def timed(name, folder, *left_out):
    """Return the shortest of a few calls of a small function, in seconds.

    left_out: names of variables.
    """
    for variable in left_out:
        os.environ.pop(variable, None)
    call, samples = _small_function(name, folder, SIZE), []
    while len(samples) < SAMPLES and sum(samples) < LONG:
        samples.append(seconds_of(call))
    return min(samples)


def forked(name, folder):
    """Return what a process does that is forked after a call, in place of another one, or ""."""
    # So large that OpenMP has it run on several threads.
    return threads.fault_in_child(_small_function(name, folder, LARGE))


def _small_function(name, folder, size):
    """Return a small function without arguments, called once, in the mode that programs run.

    name: of the framework's module. folder: to compile into.
    """
    import numpy

    framework = contexts.of_program(name, folder).framework
    dtype = str(framework.flag("floatX"))
    x, y = (framework.variable("matrix", dtype, letter) for letter in "xy")
    # Without a mode: as the user's settings have it.
    function = framework.module.function([x, y], framework.tensor.tanh(x * y + x).sum(axis=0))
    matrix = numpy.full((size, size), 0.5, dtype)
    function(matrix, matrix)
    return lambda: function(matrix, matrix)
