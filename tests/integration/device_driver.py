"""Run the suite's part for devices in the interpreter that runs this; print what it found as JSON.

Arguments: the suite's folder, the expectation file or `-`, and what to do: `check` looks whether
the device is there, `compute` does the steps that follow as well, and `program` gives the program's
exit status with no other check than that. `check` may have seconds, for one that does not answer.
"""

import importlib
import json
import os
import shutil
import sys
import tempfile
import types
from typing import Any


def main(suite_folder: str, expectation_path: str, what: str, *more: str) -> None:
    """Do it, and print [[name, status, detail], ...] or the exit status."""
    sys.dont_write_bytecode = True
    package = types.ModuleType("verify")
    package.__path__ = [suite_folder]
    sys.modules["verify"] = package
    device, context, expectation = modules("device.check", "context", "core.expectation")
    if what == "check" and more:
        device.OPENING = float(more[0])
    if what == "program":
        print(program(device, expectation_path))
        return
    expected = None if expectation_path == "-" else expectation.load(expectation_path)
    arguments = os.environ.get("THEANO_FLAGS", "")
    folder = tempfile.mkdtemp()
    try:
        made = context.Context(
            None,
            expected,
            folder,
            arguments,
            requested_device=device.requested(expected, arguments),
        )
        checks = [device.check(made)]
        if what == "compute" and made.device:
            device.STEPS = more
            checks += device.measure(made)[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps([list(check[:3]) for check in checks]))


def modules(*names: str) -> list[Any]:
    """Return modules of the suite. It is written for Python 2.7 too, so it has no types."""
    return [importlib.import_module("verify." + name) for name in names]


def program(device: Any, expectation_path: str) -> int:
    """Return the exit status of the program where the device is all that it looks at."""
    (cli,) = modules("cli")
    # It imports NumPy, which the program does when the framework is there.
    (suite,) = modules("suite")
    suite.run = lambda context, debug: ([device.check(context)], [])
    status: int = cli.main(["--expect", expectation_path])
    return status


if __name__ == "__main__":
    main(*sys.argv[1:])
