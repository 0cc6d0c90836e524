"""The program: arguments in, table and report out."""

from __future__ import absolute_import, division, print_function

import argparse
import os
import tempfile

from verify import table
from verify.blas import threads
from verify.context import Context
from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.core import program, progress, quiet, report, watch
from verify.device import check as device_check

PASSED, FAILED, NO_DEVICE = 0, 1, 3


def main(words):
    """Run the program and return its exit status."""
    arguments = parse(words)

    def watched(arguments):
        return watch.over(
            "verify",
            lambda folder: program.end("verify", lambda a: run(a, folder), arguments),
            arguments.limit,
        )

    # Around it, too: the folder may be refused before there is another process.
    return program.end("verify", watched, arguments)


def parse(words):
    """Return the parsed arguments; bad ones end the program with status 2."""
    parser = argparse.ArgumentParser(
        prog="verify",
        description="Verify and time the environment of the interpreter that runs this: is the "
        "fast path of Theano, Aesara or PyTensor the one that runs?",
    )
    parser.add_argument("--full", action="store_true", help="longer timings as well")
    parser.add_argument("--json", metavar="FILE", help="write the report for machines there")
    parser.add_argument(
        "--expect",
        metavar="FILE",
        help="what the builder has locked; without it the environment is diagnosed",
    )
    parser.add_argument(
        "--blas-threads", metavar="N", type=program.positive, help="threads for the BLAS library"
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=program.positive,
        default=watch.LIMIT,
        help="seconds after which a step counts as hanging (default: %(default)s)",
    )
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser.parse_args(words)


def run(arguments, folder):
    """Verify, print the table, write the report; return the exit status.

    Everything that it makes besides goes to a folder which the caller removes.
    """
    wanted = expectations.load(arguments.expect) if arguments.expect else None
    if arguments.json and not os.path.isdir(os.path.dirname(os.path.abspath(arguments.json))):
        raise EnvironmentError(2, "no such folder", os.path.dirname(arguments.json))
    if arguments.blas_threads:
        threads.set_variables(arguments.blas_threads)
    given = {name: os.environ.get(name.upper() + "_FLAGS", "") for name in frameworks.MODULES}
    frameworks.use_compile_folder(os.path.join(folder, "compiled"))
    # What another environment has compiled would hide that the compiler of this one is broken.
    frameworks.share_modules()
    module = wanted["module"] if wanted else None
    # Aesara leaves folders where temporary files go, a Theano that cannot compile its sources, and
    # every process that is killed what it had.
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    asked = device_check.requested(wanted, given["theano"])
    if asked:
        frameworks.add_flag("theano", "device=cpu")
    progress.begin()
    progress.note("importing the framework")
    with quiet.output(arguments.debug):
        framework = frameworks.load(module)
    context = Context(framework, wanted, folder, given[framework.name], arguments.full, asked)

    # Imported late: these import NumPy, which must not come before the thread counts are set.
    from verify import suite

    try:
        with quiet.output(arguments.debug):
            checks, timings = suite.run(context, arguments.debug)
    finally:
        progress.end()
    content = suite.document(context, checks, timings)
    table.show(table.render(content, table.terminal_width(), table.wants_colour()))
    if arguments.json:
        report.write(arguments.json, content)
    if not content["ok"]:
        return FAILED
    return NO_DEVICE if context.device_missing else PASSED
