"""Compile a workload's cases, call them in turn, and put what was found into a report."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import platform

from verify import machine, progress, report, settings, versions
from verify.context import Context
from verify.timings import clock
from verify.workloads import graph, profiles
from verify.workloads.ops import Ops

SCHEMA = 1


class UnknownCaseError(EnvironmentError):
    """The workload has no case of that name."""


def measure(framework, expectation, arguments):
    """Return the report of one run of a workload, as docs/profiling.md describes it."""
    wanted = arguments.profile_calls > 0 and arguments.linker != "numba"
    dtype = arguments.dtype or ("float64" if arguments.workload == "check_blas" else "float32")
    workload = importlib.import_module("verify.workloads." + arguments.workload)
    models = workload.models(Ops(framework, dtype, wanted), arguments.small)
    chosen = [model for model in models if arguments.case in (None, model.name)]
    if not chosen:
        known = ", ".join(model.name for model in models)
        raise UnknownCaseError(22, "no case %s; there are: %s" % (arguments.case, known))
    compiled = [_compile(framework, model, arguments.linker, wanted) for model in chosen]
    profiles.silence(framework)
    seconds = _call(compiled, arguments.calls)
    context = Context(framework, expectation, None, os.environ.get(framework.flags_variable, ""))
    return report.private(
        {
            "schema": SCHEMA,
            "workload": arguments.workload,
            "small": arguments.small,
            "mended_scan": arguments.mend_scan,
            "dtype": dtype,
            "linker": arguments.linker or framework.linker,
            "variant": expectation["variant"] if expectation else None,
            "framework": {
                "name": "%s-%s" % (framework.name, framework.version),
                "module": framework.name,
                "version": framework.version,
                "python": platform.python_version(),
            },
            "machine": machine.describe({}),
            "settings": settings.in_force(context),
            "packages": versions.packages(context),
            "cases": [
                _case(one, samples, arguments.profile_calls if wanted else 0)
                for one, samples in zip(compiled, seconds)
            ],
        }
    )


class _Compiled(object):
    def __init__(self, model, function, seconds, modules):
        self.model, self.function = model, function
        self.compile_seconds, self.modules = seconds, modules
        self.first = None
        self.output = None


def _compile(framework, model, linker, profiled):
    progress.note("compiling %s" % model.name)
    before = _modules(framework)
    start = clock()
    outputs = [] if model.output is None else model.output
    function = framework.function([], outputs, model.updates, profiled, linker)
    return _Compiled(model, function, clock() - start, _modules(framework) - before)


def _modules(framework):
    """Return how many compiled modules the compile folder holds."""
    try:
        return len(os.listdir(str(framework.flag("compiledir"))))
    except OSError:
        return 0


def _call(compiled, calls):
    """Return the seconds of each call of each case; the cases take turns, so that they compare."""
    for one in compiled:
        with profiles.switched_off(one.function):
            start = clock()
            value = one.function()
            one.first = clock() - start
        # What a call returns is compared between environments; an update has no output.
        one.output = None if one.model.output is None else float(value)
        profiles.forget_calls(one.function)
    seconds = [[] for _ in compiled]
    for number in range(calls):
        progress.note("call %d of %d" % (number + 1, calls))
        for one, samples in zip(compiled, seconds):
            with profiles.switched_off(one.function):
                start = clock()
                one.function()
                samples.append(clock() - start)
    progress.end()
    return seconds


def _case(one, samples, profile_calls):
    found = {
        "name": one.model.name,
        "shape": one.model.shape,
        "flops": one.model.flops,
        "seconds": samples,
        "first_call": one.first,
        "output": one.output,
        "graph": graph.describe(one.function),
        "compile": {"seconds": one.compile_seconds, "modules": one.modules},
        "profile": None,
    }
    if one.function.profile:
        found["compile"].update(profiles.compile_times(one.function))
    if profile_calls:
        progress.note("profiling %s" % one.model.name)
        for _ in range(profile_calls):
            one.function()
        found["profile"] = profiles.of_function(one.function)
        progress.end()
    return found
