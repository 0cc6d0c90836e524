"""How long the framework takes to import, and to compile a small function."""

from __future__ import absolute_import, division, print_function

import os
import sys

from verify.core import process, progress
from verify.core.clock import monotonic, until_steady
from verify.core.compiling import share_modules
from verify.core.report import timing

# Seconds.
LIMIT = 120


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

    From then on modules are shared.
    """
    progress.note("timing a compilation")
    framework = context.framework
    x, w = (framework.variable("matrix", "float64", name) for name in "xw")
    output = framework.tensor.tanh(framework.tensor.dot(x, w)).sum(axis=0)
    start = monotonic()
    function = framework.function([x, w], [output])
    total = monotonic() - start
    optimiser, linker = framework.compile_seconds(function)
    share_modules(context.modules)
    return [
        timing("compile", "s", [total]),
        timing("compile: optimiser", "s", [optimiser]),
        timing("compile: C compiler and linker", "s", [linker]),
    ]
