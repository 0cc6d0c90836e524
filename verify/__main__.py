"""Verify the environment of the Python that runs this program; `files`: any environment.

    PREFIX/bin/python verify [--full] [--json FILE] [--expect FILE] [--blas-threads N]
                         [--limit N] [--debug]
    python verify files --prefix PREFIX [--full] [--json FILE]
    PREFIX/bin/python verify workload NAME [--calls N] [--profile-calls N] [--json FILE] ...

Exit status: 0 all checks passed; 1 a check failed, hung or killed the process; 2 the suite cannot
run; 3 all checks passed, but the environment's device is missing; 130 interrupted.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re
import signal
import sys
import types

# Write no bytecode beside these files: an image shares them, read-only.
sys.dont_write_bytecode = True
_folder = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _folder:
    # Python runs a folder with its files as top-level modules, which would hide others of the
    # same name. Import them from the package `verify` instead.
    del sys.path[0]
if "verify" not in sys.modules:
    sys.modules["verify"] = types.ModuleType("verify")
    sys.modules["verify"].__path__ = [_folder]

# The other programs of the suite, each the function `main` of a module. The checks, `profile` and
# the bench start them.
PROGRAMS = {
    "bench-probe": "verify.workloads.rounds",
    "device-probe": "verify.device.check",
    "files": "verify.checks.files",
    "probe": "verify.core.process",
    "workload": "verify.workloads.cli",
}


def main(argv):
    """Run the program that the first argument names, else the verification; return its status."""
    surroundings = importlib.import_module("verify.core.surroundings")
    surroundings.open_streams()
    surroundings.note_own()
    if sys.version_info[0] > 2:
        # A library that is cut off ends Python before there is a supervisor: this says where.
        handler = importlib.import_module("faulthandler")
        handler.enable()
    # Their lines would stand between those of the programs that the suite starts.
    for name in ("LD_DEBUG", "LD_SHOW_AUXV"):
        os.environ.pop(name, None)
    parent = os.environ.pop("THEANO_STACKS_PARENT", "")
    if parent.isdigit():
        # The builder. A shell that has started the suite may end before it.
        process = importlib.import_module("verify.core.process")
        process.end_with_parent(int(parent), signal.SIGTERM)
    if os.environ.pop("THEANO_STACKS_INTERRUPT", ""):
        # The builder has it ignored until here: Python prints a traceback while it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        importlib.import_module("verify.core.progress").says_interrupted = False
    program = PROGRAMS.get(argv[0]) if argv else None
    module = importlib.import_module(program or "verify.cli")
    if sys.version_info[0] > 2:
        handler.disable()
    return module.main(argv[1:] if program else argv)


def cannot_start(error, trace):
    """Print which file the suite, or a module that it needs, cannot be imported from; return 2."""
    while trace.tb_next:
        trace = trace.tb_next
    path = getattr(error, "filename", None) or trace.tb_frame.f_code.co_filename
    if not os.path.isabs(path):  # importlib's own frame
        path = _folder
    library = os.path.dirname(os.__file__)
    # Python 2 does not name the package.
    missing = re.search(r"No module named '(\w+)", str(error))
    if path.startswith(_folder) and (not missing or missing.group(1) == "verify"):
        fix = "the suite's files are damaged or incomplete: take a whole copy"
    elif path.startswith((library, _folder)) and "-packages" not in path:
        fix = "this Python is incomplete: install it again, or take another"
    else:
        fix = "if it hides a module of Python, rename it"
        fix += ", or take its folder off PYTHONPATH" if os.environ.get("PYTHONPATH") else ""
    sys.stderr.write("verify cannot start with %s\n" % sys.executable)
    sys.stderr.write("  %s: %s (%s)\n  fix: %s\n" % (type(error).__name__, error, path, fix))
    return 2


def run():
    """Run the program that the command line names, and end with its status."""
    try:
        sys.exit(main(sys.argv[1:]))
    except (ImportError, SyntaxError) as error:
        if "--debug" in sys.argv:
            raise
        sys.exit(cannot_start(error, sys.exc_info()[2]))
    except KeyboardInterrupt:
        importlib.import_module("verify.core.progress").interrupted()
        sys.exit(130)


if __name__ == "__main__":
    run()
