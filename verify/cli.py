"""The command line of the verification: arguments in, table and report out."""

from __future__ import absolute_import, division, print_function

import argparse
import os
import resource
import tempfile

from verify import table
from verify.blas import threads
from verify.checks import files, versions
from verify.context import IMPORT, Context, find_culprit
from verify.core import causes, configuration, fixes, manifest, program, progress, report, watch
from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.device import check as device_check

PASSED, FAILED, NO_DEVICE = 0, 1, 3
# How long it takes on an idle machine of two cores, as measured: where it takes what a verification
# has compiled before, and elsewhere. numba compiles for 15 s, once.
KEEPS, COMPILES = "15 to 30 s", "1 to 2 min (with NumPy alone 10 s)"
# ST_NOEXEC of statvfs, which Python 2 does not name.
NOEXEC = 8
# Bytes: what the suite compiles, and more. On a full disk Theano waits for its lock for ever.
LEAST_FREE = 32 << 20
# Bytes of a file: scan's C code has 1.5 MB. Theano forgets that it could not write a smaller one.
LEAST_FILE = 2 << 20


def main(argv):
    """Verify in a supervised process; return the exit status."""
    arguments = parse(argv)

    def supervised(arguments):
        return watch.supervise(
            "verify",
            lambda folder: program.exit_status("verify", lambda a: run(a, folder), arguments),
            arguments.limit,
            lambda words: _cause_of(words, arguments.expect),
        )

    # The outer call is for the supervisor: it may fail to create the folder.
    return program.exit_status("verify", supervised, arguments)


def _cause_of(words, expect):
    """Return the Cause that messages of an end name, or None; no framework is imported here."""
    repair = fixes.repair_fix(expectations.load(expect)) if expect else None
    name = next((each for each in frameworks.MODULES if frameworks.is_installed(each)), "numpy")
    flags = configuration.value_set(name, "blas.ldflags") or ""
    return causes.of(words, causes.Facts(name, ldflags=flags, repair=repair))


def parse(argv):
    """Return the parsed arguments. Invalid ones end the program with status 2."""
    parser = argparse.ArgumentParser(
        prog="verify",
        description="Verify and time the environment of the Python that runs this program: does "
        "Theano, Aesara or PyTensor use its fast path? Without one: does NumPy?",
    )
    parser.add_argument("--full", action="store_true", help="run the long timings too")
    parser.add_argument(
        "--brief", action="store_true", help="show only the main timings, and what did not pass"
    )
    parser.add_argument("--junit", metavar="FILE", help="write the checks to FILE, as JUnit's XML")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=program.positive,
        default=watch.LIMIT,
        help="seconds after which a step counts as hanging (default: %(default)s)",
    )
    program.add_options(parser)
    return parser.parse_args(argv)


def _framework(expectation, folder, user_flags):
    """Return the framework; in a diagnosis, NumPy alone where there is none.

    Where an import fails, it is tried without each variable that may be the reason.
    """
    try:
        if expectation:
            return frameworks.load(expectation["module"], fixes.repair_fix(expectation))
        return frameworks.load(or_numpy=True)
    except frameworks.FrameworkError as error:
        if not error.name:
            raise
        program = IMPORT % {"name": error.name}
        found = find_culprit(program, error.name, folder, user_flags.get(error.name, ""))
        if not found:
            raise
        raise frameworks.FrameworkError(
            "import of %s fails: %s\n  cause: %s: without it, this error is gone"
            % (error.name, error.message, found[0]),
            found[1],
        )


def _check_disk(folder):
    """Raise FrameworkError for a folder, or a limit, with which the suite cannot compile."""
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if 0 <= largest < LEAST_FILE:
        sizes = largest >> 10, LEAST_FILE >> 10
        reason = "ulimit -f allows files of %d KiB: what is compiled takes up to %d KiB" % sizes
        raise frameworks.FrameworkError(reason, causes.RAISE % "f")
    status = os.statvfs(folder)
    if status.f_flag & NOEXEC:
        reason = "nothing may run in %s (noexec)" % folder
    # Some file systems count no blocks.
    elif status.f_blocks and status.f_bavail * status.f_frsize < LEAST_FREE:
        reason = "less than %d MiB are free in %s" % (LEAST_FREE >> 20, folder)
    else:
        return
    raise frameworks.FrameworkError(reason, "set TMPDIR to another folder")


def run(arguments, folder):
    """Verify, print the table and write the report; return the exit status.

    folder: takes every temporary file; the caller removes it.
    """
    program.check_folders(arguments.json, arguments.junit)
    for path in filter(None, (arguments.json, arguments.junit)):
        # Of an earlier run; this one may end without a report. /dev/stdout may lead to a file.
        if os.path.isfile(path) and not os.path.abspath(path).startswith("/dev/"):
            os.remove(os.path.realpath(path))
    expectation = expectations.load(arguments.expect) if arguments.expect else None
    _check_disk(folder)
    if arguments.blas_threads:
        threads.set_variables(arguments.blas_threads)
    user_flags = {name: os.environ.get(name.upper() + "_FLAGS", "") for name in frameworks.MODULES}
    compiled = os.path.join(folder, "compiled")
    configuration.use_compile_folder(compiled)
    # An environment of the builder's keeps what it compiles for its next verification.
    keeps = expectation and not arguments.full
    verified = configuration.verified_modules(expectation) if keeps else None
    # What is kept is compiled into new folders, where there is none yet: {new: kept}.
    kept = {}
    bytecode = os.path.join(folder, "bytecode")
    if verified:
        digest = manifest.sources_digest(files.own_prefix())
        if digest:
            kept[bytecode + "-new"] = os.path.join(verified, "bytecode-" + digest)
        if expectation["module"] == "pytensor":
            kept[compiled + "-new"] = numba = os.path.join(verified, configuration.NUMBA)
            link = os.path.join(compiled, configuration.NUMBA)
            configuration.use_kept(link, numba, compiled + "-new")
        configuration.take(verified, compiled, functions=False)
    configuration.keep_bytecode(bytecode, kept.get(bytecode + "-new"))
    # Modules of other environments would hide a broken compiler. Until it has compiled a function,
    # they come from an empty folder.
    modules = configuration.shared_modules() if keeps else None
    configuration.share_modules(os.path.join(folder, "modules") if modules else None)
    # Aesara leaves temporary folders behind, Theano the sources that it cannot compile, and a
    # killed process everything.
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    requested_device = device_check.requested(expectation, user_flags["theano"])
    if requested_device:
        configuration.add_flag("theano", "device=cpu")
    progress.begin(KEEPS if verified else COMPILES)
    progress.note("importing the framework")
    with progress.quiet(arguments.debug):
        framework = _framework(expectation, folder, user_flags)
    flags = user_flags.get(framework.name, "")
    context = Context(framework, expectation, folder, flags, arguments.full, requested_device)
    context.modules, context.verified = modules, verified

    # This imports NumPy, so it must come after the thread counts are set.
    from verify import suite

    try:
        with progress.quiet(arguments.debug):
            checks, timings = suite.run(context, arguments.debug)
    finally:
        progress.end()
    described = versions.described(context, context.peaks)
    content = report.document(checks, timings, context.device, context.advice, **described)
    if verified and content["ok"]:
        configuration.make_private(verified)
        for new in kept:
            configuration.keep(new, kept[new])
        for name in ("compiled", "scan", "registers"):
            configuration.take(os.path.join(folder, name), verified)
    width, colour = table.terminal_width(), table.wants_colour()
    table.show(table.render(content, width, colour, arguments.full, arguments.brief))
    if arguments.json:
        report.write(arguments.json, content)
    if arguments.junit:
        report.write_atomically(arguments.junit, table.junit(report.private(content)))
    if not content["ok"]:
        return FAILED
    return NO_DEVICE if context.device_missing else PASSED
