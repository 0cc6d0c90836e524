"""Run chosen checks of the suite in the Python that runs this program; print them as JSON.

Arguments: the suite's folder, the expectation file or `-`, and the checks' names. In their place,
for a device: `device` looks whether it is there, for at most so many seconds as follow;
`device steps` does the steps that follow as well; `device program` prints the program's exit
status with no other check than that.
"""

import functools
import hashlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def main(suite_folder: str, expectation_path: str, names: Sequence[str]) -> None:
    """Set up as the suite's own program does, run the checks, print [[name, status, ...], ...].

    What they compile is kept for the next checks of the same environment, as a verification does.
    """
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
        compiled, kept = Path(folder) / "compiled", kept_folder()
        compiling.use_compile_folder(str(compiled))
        numba = str(kept / compiling.NUMBA)
        compiling.use_kept(str(compiled / compiling.NUMBA), numba, numba)
        compiling.take(str(kept), str(compiled))
        compiling.share_modules()
        run(context.Context(frameworks.load(module), expectation, folder, user_flags), names)
        compiling.take(str(compiled), str(kept))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kept_folder() -> Path:
    """Return the folder of what was compiled in this environment, in KEPT, the tests' own folder.

    One that has become another environment has another.
    """
    own = Path(sys.prefix) / "etc/theano-stacks/expect.json"
    made_of = own.read_bytes() if own.exists() else b""
    digest = hashlib.sha256(sys.prefix.encode() + made_of).hexdigest()
    folder = Path(os.environ["KEPT"]) / digest
    folder.mkdir(exist_ok=True)
    return folder


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
    operations, registers = modules("blas.operations", "elementwise.registers")

    def of(module: str, name: str) -> Any:
        [found] = modules(module)
        return getattr(found, name)

    def gemm_speed(context: Any) -> Any:
        of("blas.kernels", "time_peaks")(context)
        of("blas.speed", "products")(context)
        return of("blas.speed", "check_speed")(context, "float64")

    checks = {
        name: of(module, function)
        for name, module, function in (
            ("files", "checks.files", "check"),
            ("versions", "checks.versions", "check"),
            ("settings", "checks.settings", "check"),
            ("cost", "checks.settings", "check_cost"),
            ("compile folder", "checks.compile_time", "check_folder"),
            ("known faults", "checks.framework_faults", "check"),
            ("accelerator", "checks.framework_faults", "check_accelerator"),
            ("ldflags", "blas.serving", "check_ldflags"),
            ("library", "blas.serving", "check"),
            ("one BLAS", "blas.serving", "check_one_blas"),
            ("numba", "blas.chains", "check_numba"),
            ("chains", "blas.chains", "check"),
            ("kernels", "blas.kernels", "check"),
            ("libm", "elementwise.libm", "check"),
            ("loops", "elementwise.libm", "check_loops"),
            ("accuracy", "elementwise.libm", "check_accuracy"),
            ("numbers", "elementwise.loops", "check"),
        )
    }
    for name, module in (("scan", "checks.scan"), ("threads", "blas.threads")):
        start = of(module, "start")
        checks[name] = lambda context, start=start: start(context)()
    checks["speed"] = gemm_speed
    checks["linkers"] = lambda context: of("checks.compile_time", "linkers")(context)[0]
    checks["registers"] = lambda context: registers.start(context, registers.calls_of(context))()
    for operation in operations.OPERATIONS:
        for suffix, check in (("", operations.check), (" numbers", operations.check_numbers)):
            checks[operation.name + suffix] = functools.partial(check, operation=operation)
    # What tests assert; the figures of a speed are not among it.
    results = [list(checks[name](context)[:4]) for name in names]
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
