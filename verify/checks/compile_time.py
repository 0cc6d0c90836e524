"""How long the framework takes to import and to compile; with --full, each linker of PyTensor."""

from __future__ import absolute_import, division, print_function

import importlib
import json
import os
import sys

from verify.core import process, progress
from verify.core.clock import monotonic, until_steady
from verify.core.compiling import compile_flags, share_modules, take
from verify.core.fixes import repair_fix, setting_fix
from verify.core.packages import is_installed, pip_command
from verify.core.report import failed, passed, timing
from verify.theano_stacks_times import peak

# Seconds.
LIMIT = 120
LINKERS_CHECK = "linkers"
# Linker: the module that it needs.
LINKERS = (("cvm", None), ("numba", "numba"), ("jax", "jax"))
# Seconds; numba compiles the model in 30 s on a free processor.
LINKER_LIMIT = 600
# Of the values, relative. The model's is a sum of 200 terms of one sign in float64, whose rounding
# errors, in any order, come to 5e-14 at most. float32 would be off by 1e-8 or more.
TOLERANCE = 1e-12
ROWS, COLUMNS = 200, 5
# What a framework compiles of its own once, for all functions.
EXTENSIONS = ("gof.cutils", "gof.lazylinker_c", "link.c.cutils", "link.c.lazylinker_c")
MODEL_SAMPLES, CALLS = 5, 1000


def imports(context):
    """Time the import of the framework in new processes; this one has filled the disk's cache."""
    progress.note("timing the import")
    environment = dict(os.environ)
    if "PYTHONPYCACHEPREFIX" not in environment:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    # Not from the folder that the person stands in: the suite does not import from there either.
    program = "import sys; sys.path = [path for path in sys.path if path]; import "
    command = [sys.executable, "-c", program + context.framework.name]

    def seconds():
        start = monotonic()
        done = process.call(command, LIMIT, environment)
        if done.timed_out:
            raise RuntimeError("the import did not end within %d s" % LIMIT)
        if done.status:
            raise RuntimeError("the import fails: " + done.output.strip()[-200:])
        return monotonic() - start

    return [timing("import", "s", until_steady(seconds, 3))]


def compilation(context):
    """Time the compilation of a small function whose modules are not compiled yet.

    From then on modules are shared, and those of the verification before are used.
    """
    progress.note("timing a compilation")
    framework = context.framework
    for extension in EXTENSIONS:
        try:
            importlib.import_module("%s.%s" % (framework.name, extension))
        except ImportError:
            continue
    x, w = (framework.variable("matrix", "float64", name) for name in "xw")
    output = framework.tensor.tanh(framework.tensor.dot(x, w)).sum(axis=0)
    start = monotonic()
    function = framework.function([x, w], [output])
    total = monotonic() - start
    optimiser, linker = framework.compile_seconds(function)
    share_modules(context.modules)
    if context.verified:
        take(context.verified, str(framework.flag("base_compiledir")))
    return [
        timing("compile", "s", [total]),
        timing("compile: optimiser", "s", [optimiser]),
        timing("compile: C compiler and linker", "s", [linker]),
    ]


def linkers(context):
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
            process.suite_command("linkers-probe", linker),
            LINKER_LIMIT,
            _environment(context, linker),
        )
        results[linker] = result = process.answer(done)
        if result is None:
            output = "it ran for %d s" % LINKER_LIMIT if done.timed_out else done.output.strip()
            detail = "linker=%s fails: %s" % (linker, output[-1000:])
            return failed(LINKERS_CHECK, detail, _fix(context, module)), timings
        timings += [
            timing("model, %s: compile and first call" % linker, "s", [result["compile"]]),
            timing("model, %s: step" % linker, "ns", [1e9 * step for step in result["step"]]),
            timing("model, %s: peak memory" % linker, "MB", [result["peak"] / 1e6]),
        ]
    values = [(linker, results[linker]["value"]) for linker in sorted(results)]
    if not all(_are_close(value, values[0][1]) for _, value in values):
        shown = ", ".join("%s %r" % each for each in values)
        fix = setting_fix(context, "linker", "cvm")
        return failed(LINKERS_CHECK, "their values differ: " + shown, fix), timings
    detail = " and ".join(sorted(results)) + " compute the same value"
    if missing:
        detail += "; not installed: " + ", ".join(missing)
    return passed(LINKERS_CHECK, detail), timings


def _fix(context, module):
    """Return how to make a linker work that needs a module, or nothing but the framework."""
    if context.expectation:
        return repair_fix(context.expectation)
    return "install it again:\n%s %s" % (pip_command(again=True), module or context.framework.name)


def _are_close(value, other):
    """Return whether two values differ by rounding alone; false for one that is no number."""
    return abs(value - other) <= TOLERANCE * abs(other)


def _environment(context, linker):
    """Return the variables of a process that finds no compiled modules."""
    variable = context.framework.flags_variable
    folder = os.path.join(context.folder, linker)
    flags = [os.environ.get(variable), compile_flags(context.framework.name, folder)]
    return dict(os.environ, **{variable: ",".join(flag for flag in flags if flag)})


def main(argv):
    """Time the log-density of a linear regression and its gradient, as a sampler calls them.

    Argument: the linker. Prints a JSON object: `compile`, the seconds until the first result;
    `step`, samples of the seconds of a call; `peak`, the most memory in bytes, of this process or
    of a compiler that it starts; `value`, what the model computes.
    """
    import numpy
    import pytensor
    from pytensor import tensor

    random = numpy.random.RandomState(1)
    x = random.standard_normal((ROWS, COLUMNS))
    y = x.sum(axis=1) + random.standard_normal(ROWS)
    point = tensor.vector("point", dtype="float64")
    error = (y - tensor.dot(x, point[:COLUMNS])) / tensor.exp(point[COLUMNS])
    density = (-0.5 * error**2 - point[COLUMNS]).sum() - 0.5 * (point**2).sum()
    gradient = pytensor.gradient.grad(density, point)
    outputs, mode = [density, gradient], argv[0].upper()
    start = monotonic()
    function = pytensor.function([point], outputs, mode=mode, trust_input=True)
    at = numpy.zeros(COLUMNS + 1)
    value = function(at)
    seconds = monotonic() - start
    steps = []
    for _ in range(MODEL_SAMPLES):
        start = monotonic()
        for _ in range(CALLS):
            function(at)
        steps.append((monotonic() - start) / CALLS)
    result = {"compile": seconds, "step": steps, "peak": peak(), "value": float(value[0])}
    print(json.dumps(result))
