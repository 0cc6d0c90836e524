"""Run chosen checks of the suite in the Python that runs this program; print them as JSON.

Arguments: the suite's folder, the expectation file or `-`, and the checks' names. In their place,
for a device: `device` looks whether it is there, for at most so many seconds as follow;
`device steps` does the steps that follow as well; `device program` prints the program's exit
status with no other check than that.
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
    """Set up as the suite's own program does, run the checks, print [[name, status, ...], ...]."""
    sys.dont_write_bytecode = True
    package = types.ModuleType("verify")
    package.__path__ = [suite_folder]
    sys.modules["verify"] = package
    context, expectations = modules("context", "core.expectation")
    compiling, frameworks = modules("core.configuration", "core.framework")
    if names[0] == "device program":
        sys.stdout.write(f"{program(expectation_path)}\n")
        return
    expectation = None if expectation_path == "-" else expectations.load(expectation_path)
    folder = tempfile.mkdtemp()
    try:
        if names[0].startswith("device"):
            on_device(expectation, folder, *names)
            return
        module = expectation["module"] if expectation else "theano"
        user_flags = os.environ.get(module.upper() + "_FLAGS", "")
        compiling.use_compile_folder(folder)
        compiling.share_modules()
        run(context.Context(frameworks.load(module), expectation, folder, user_flags), names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def modules(*names: str) -> list[Any]:
    """Return modules of the suite, which have no types: they also run on Python 2.7."""
    return [importlib.import_module("verify." + name) for name in names]


def on_device(expectation: Any, folder: str, what: str, *more: str) -> None:
    """Look at the device, and do steps on it; print the checks as `main` does."""
    device, context = modules("device.check", "context")
    flags = os.environ.get("THEANO_FLAGS", "")
    if what == "device" and more:
        device.OPENING = float(more[0])
    requested = device.requested(expectation, flags)
    made = context.Context(None, expectation, folder, flags, requested_device=requested)
    checks = [device.check(made)]
    if what == "device steps" and made.device:
        device.STEPS = more
        checks += device.measure(made)[0]
    sys.stdout.write(json.dumps([list(check[:4]) for check in checks]) + "\n")


def program(expectation_path: str) -> int:
    """Return the exit status of the program where the device is all that it looks at."""
    # The suite imports NumPy, which the program does when the framework is there.
    cli, suite, device = modules("cli", "suite", "device.check")
    suite.run = lambda context, debug: ([device.check(context)], [])
    status: int = cli.main(["--expect", expectation_path])
    return status


def run(context: Any, names: Sequence[str]) -> None:
    """Run the checks called `names` and print them."""
    chains, kernels, operations = modules("blas.chains", "blas.kernels", "blas.operations")
    serving, speed, threads = modules("blas.serving", "blas.speed", "blas.threads")
    compile_time, files, framework_faults = modules(
        "checks.compile_time", "checks.files", "checks.framework_faults"
    )
    scan, settings, versions = modules("checks.scan", "checks.settings", "checks.versions")
    libm, loops, registers = modules(
        "elementwise.libm", "elementwise.loops", "elementwise.registers"
    )

    def gemm_speed(context: Any) -> Any:
        kernels.time_peaks(context)
        speed.products(context)
        return speed.check_speed(context, "float64")

    checks = {
        "files": files.check,
        "versions": versions.check,
        "settings": settings.check,
        "compile folder": compile_time.check_folder,
        "ldflags": serving.check_ldflags,
        "library": serving.check,
        "one BLAS": serving.check_one_blas,
        "numba": chains.check_numba,
        "chains": chains.check,
        "known faults": framework_faults.check,
        "threads": lambda context: threads.start(context)(),
        "scan": lambda context: scan.start(context)(),
        "accelerator": framework_faults.check_accelerator,
        "libm": libm.check,
        "loops": libm.check_loops,
        "accuracy": libm.check_accuracy,
        "numbers": loops.check,
        "cost": settings.check_cost,
        "speed": gemm_speed,
        "kernels": kernels.check,
        "registers": lambda context: registers.start(context, registers.calls_of(context))(),
    }
    for operation in operations.OPERATIONS:
        checks[operation.name] = functools.partial(operations.check, operation=operation)
        checks[operation.name + " numbers"] = functools.partial(
            operations.check_numbers, operation=operation
        )
    # What tests assert; the figures of a speed are not among it.
    results = [list(checks[name](context)[:4]) for name in names]
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
