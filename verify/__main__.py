"""Verify the environment of the interpreter that runs this.

    PREFIX/bin/python verify [--full] [--json FILE] [--expect FILE] [--blas-threads N]
                         [--limit N] [--debug]
    PREFIX/bin/python verify workload NAME [--calls N] [--profile-calls N] [--json FILE] ...

Exit status: 0 all checks passed, 1 a check failed, or hung, or killed the process, 2 the suite
cannot run, 3 what could be checked passed, but the environment's device is not there, 130
interrupted.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import sys
import types

# No bytecode beside these files: they may lie in somebody's read-only image.
sys.dont_write_bytecode = True
_here = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _here:
    # Run as a folder: its modules belong to a package, or they would hide others of their name.
    del sys.path[0]
if "verify" not in sys.modules:
    sys.modules["verify"] = types.ModuleType("verify")
    sys.modules["verify"].__path__ = [_here]

# The other programs of the suite, which its checks, `profile` and `bench` start.
PROGRAMS = {
    "bench-probe": "verify.workloads.bench_probe",
    "device-probe": "verify.device.probe",
    "threads-probe": "verify.blas.threads_probe",
    "workload": "verify.workloads.cli",
}


def main(words):
    """Run the program that the first word names, else the verification; return its status."""
    named = PROGRAMS.get(words[0]) if words else None
    program = importlib.import_module(named or "verify.cli")
    return program.main(words[1:] if named else words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
