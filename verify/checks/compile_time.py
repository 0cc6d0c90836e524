"""How long the framework takes to import, and to compile a small function."""

from __future__ import absolute_import, division, print_function

import os
import sys

from verify.core import process, progress
from verify.core.clock import monotonic
from verify.core.report import timing


def imports(context):
    """Time the import of the framework in new processes."""
    progress.note("timing the import")
    environment = dict(os.environ)
    if "PYTHONPYCACHEPREFIX" not in environment:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-c", "import " + context.framework.name]
    # Not timed: the first import fills the disk cache, and writes bytecode that is missing.
    process.call(command, 120, environment)
    samples = []
    for _ in range(3):
        start = monotonic()
        process.call(command, 120, environment)
        samples.append(monotonic() - start)
    return [timing("import", "s", samples)]


def compilation(context):
    """Time the compilation of a small function whose modules are not compiled yet."""
    progress.note("timing a compilation")
    framework = context.framework
    x, w = (framework.variable("matrix", "float64", name) for name in "xw")
    output = framework.tensor.tanh(framework.tensor.dot(x, w)).sum(axis=0)
    start = monotonic()
    function = framework.function([x, w], [output])
    total = monotonic() - start
    optimiser, linker = framework.compile_seconds(function)
    return [
        timing("compile", "s", [total]),
        timing("compile: optimiser", "s", [optimiser]),
        timing("compile: C compiler and linker", "s", [linker]),
    ]
