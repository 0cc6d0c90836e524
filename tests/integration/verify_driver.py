"""Run chosen checks of the suite in the interpreter that runs this; print them as JSON.

Arguments: the suite's folder, the expectation file or `-`, and the checks' names.
"""

import functools
import importlib
import json
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Sequence
from typing import Any


def main(suite_folder: str, expectation_path: str, names: Sequence[str]) -> None:
    """Set up as the suite's own program does, run the checks, print [[name, status, ...]]."""
    sys.dont_write_bytecode = True
    package = types.ModuleType("verify")
    package.__path__ = [suite_folder]
    sys.modules["verify"] = package
    context, expectation, framework = modules("context", "expectation", "framework")
    wanted = None if expectation_path == "-" else expectation.load(expectation_path)
    folder = tempfile.mkdtemp()
    try:
        module = wanted["module"] if wanted else "theano"
        given = os.environ.get(module.upper() + "_FLAGS", "")
        framework.use_compile_folder(folder)
        framework.share_modules()
        run(context.Context(framework.load(module), wanted, folder, given), names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def modules(*names: str) -> list[Any]:
    """Return modules of the suite. It is written for Python 2.7 too, so it has no types."""
    return [importlib.import_module("verify." + name) for name in names]


def run(context: Any, names: Sequence[str]) -> None:
    """Run the checks called `names` and print them."""
    blas_ops, numerics, scan, serving = modules("blas_ops", "numerics", "scan", "serving")
    libm, kernels, registers, operations = modules("libm", "kernels", "registers", "operations")
    settings, threads, timings, versions = modules("settings", "threads", "timings", "versions")
    mapping, upstream = modules("mapping", "upstream")

    def speed(context: Any) -> Any:
        timings.peaks(context)
        timings.products(context)
        return timings.check_speed(context, "float64")

    checks = {
        "versions": versions.check,
        "settings": settings.check,
        "ldflags": serving.check_ldflags,
        "library": serving.check,
        "one BLAS": mapping.check,
        "known faults": upstream.check,
        "threads": threads.check,
        "scan": scan.check,
        "libm": libm.check,
        "loops": libm.check_loops,
        "accuracy": libm.check_accuracy,
        "speed": speed,
        "kernels": kernels.check,
        "registers": lambda context: registers.check(context, operations.calls(context)),
    }
    for operation in blas_ops.OPERATIONS:
        checks[operation.name] = functools.partial(blas_ops.check, operation=operation)
        checks[operation.name + " numbers"] = functools.partial(numerics.check, operation=operation)
    found = [list(checks[name](context)) for name in names]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
