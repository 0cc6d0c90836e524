"""Compile a workload's cases, call them in turn, and put what was found into a report."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import platform
import warnings

from verify import device_graph, machine, progress, report, settings, versions
from verify.context import Context
from verify.timings import clock
from verify.workloads import graph, profiles, waiting
from verify.workloads.ops import Ops

SCHEMA = 1


class UnknownCaseError(EnvironmentError):
    """The workload has no case of that name."""


def measure(framework, expectation, arguments, device=None):
    """Return the report of one run of a workload, as docs/profiling.md describes it.

    device: what is told of the one that the framework has opened.
    """
    wanted = arguments.profile_calls > 0 and arguments.linker != "numba"
    dtype = arguments.dtype or ("float64" if arguments.workload == "check_blas" else "float32")
    # On a device other functions than those that are timed have the profiles.
    ops = Ops(framework, dtype, wanted and not device)
    models = _models(ops, arguments)
    compiled = [_compile(framework, model, arguments.linker, wanted) for model in models]
    profiled = _compile_waiting(framework, dtype, arguments) if wanted and device else compiled
    profiles.silence(framework)
    seconds = _call(compiled, arguments.calls, waiting.for_updates if device else _nothing)
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
            "device": device,
            "settings": settings.in_force(context),
            "packages": versions.packages(context),
            "cases": [
                _case(one, samples, other, arguments.profile_calls if wanted else 0)
                for one, samples, other in zip(compiled, seconds, profiled)
            ],
        }
    )


def _models(ops, arguments):
    workload = importlib.import_module("verify.workloads." + arguments.workload)
    models = workload.models(ops, arguments.small)
    chosen = [model for model in models if arguments.case in (None, model.name)]
    if not chosen:
        known = ", ".join(model.name for model in models)
        raise UnknownCaseError(22, "no case %s; there are: %s" % (arguments.case, known))
    return chosen


def _compile_waiting(framework, dtype, arguments):
    """Return the same functions once more, whose nodes wait for the device."""
    warnings.filterwarnings("ignore", "You are running the Theano profiler with CUDA enabled")
    ops = Ops(framework, dtype, True, waiting.LINKER)
    found = []
    for model in _models(ops, arguments):
        one = _compile(framework, model, waiting.LINKER, True)
        waiting.at_each_node(one.function)
        # Kernels are compiled in the first call.
        one.function()
        profiles.forget_calls(one.function)
        found.append(one)
    return found


def _nothing(function):
    pass


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


def _call(compiled, calls, finish):
    """Return the seconds of each call of each case; the cases take turns, so that they compare.

    finish(function) is called before the clock is stopped.
    """
    for one in compiled:
        with profiles.switched_off(one.function):
            start = clock()
            value = one.function()
            finish(one.function)
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
                finish(one.function)
                samples.append(clock() - start)
    progress.end()
    return seconds


def _case(one, samples, profiled, profile_calls):
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
    nodes = graph.graph_of(one.function).toposort()
    if any(device_graph.is_on_device(node) for node in nodes):
        found["places"] = dict(device_graph.places(nodes)._asdict())
    if one.function.profile:
        found["compile"].update(profiles.compile_times(one.function))
    if profile_calls:
        progress.note("profiling %s" % one.model.name)
        for _ in range(profile_calls):
            profiled.function()
        found["profile"] = profiles.of_function(profiled.function)
        progress.end()
    return found
