"""The program: a workload's name in, a table and a report out."""

from __future__ import absolute_import, division, print_function

import argparse
import importlib
import io
import json
import os
import shutil
import tempfile

from verify import table
from verify.blas import threads
from verify.context import Context
from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.core import process, program, report
from verify.device import check as device_check
from verify.workloads import server as workload_server

NAMES = ("ntm", "gibbs", "scan_gc", "lstm", "logreg", "check_blas")
RAN, NO_DEVICE = 0, 3


def main(words):
    """Run the program and return its exit status."""
    return program.exit_status("the workload", run, parse(words))


def parse(words):
    """Return the parsed arguments; bad ones end the program with status 2."""
    parser = argparse.ArgumentParser(
        prog="workloads", description="Compile, time and profile a program that people really run."
    )
    parser.add_argument("workload", choices=NAMES, nargs="?")
    parser.add_argument("--case", metavar="NAME", help="only this one of the workload's cases")
    parser.add_argument(
        "--calls",
        metavar="N",
        type=program.positive,
        help="timed calls (default: 100; of check_blas: 10)",
    )
    parser.add_argument(
        "--profile-calls",
        metavar="N",
        type=_count,
        help="profiled calls after the timed ones (default: as many; 0: no profile)",
    )
    parser.add_argument("--dtype", choices=("float32", "float64"), help="the precision")
    parser.add_argument("--linker", help="the framework's linker, `numba` for PyTensor's own")
    parser.add_argument(
        "--fix-scan",
        action="store_true",
        help="import the environment's theano_stacks_scan, which fixes scan's gradient, first",
    )
    parser.add_argument(
        "--keep-graphs",
        action="store_true",
        help="import the environment's theano_stacks_cache, which keeps optimised graphs, first",
    )
    parser.add_argument("--small", action="store_true", help="small shapes, for a quick try")
    parser.add_argument(
        "--compile-folder",
        metavar="FOLDER",
        help="where compiled modules go and are looked for (default: the environment's own)",
    )
    parser.add_argument(
        "--share-modules",
        metavar="FOLDER",
        help="take modules that are not there from a folder shared with other environments, and "
        "keep them in it (default: compile them all)",
    )
    parser.add_argument("--expect", metavar="FILE", help="what the builder has locked")
    parser.add_argument("--json", metavar="FILE", help="write the report for machines there")
    parser.add_argument("--blas-threads", metavar="N", type=program.positive)
    parser.add_argument("--quiet", action="store_true", help="no tables")
    parser.add_argument(
        "--stay",
        action="store_true",
        help="compile, then answer requests on standard input (for the bench)",
    )
    parser.add_argument("--show", metavar="FILE", help="print the tables of a report, run nothing")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    arguments = parser.parse_args(words)
    if bool(arguments.workload) == bool(arguments.show):
        parser.error("name a workload (%s), or --show FILE" % ", ".join(NAMES))
    if arguments.calls is None:
        arguments.calls = 10 if arguments.workload == "check_blas" else 100
    if arguments.profile_calls is None:
        arguments.profile_calls = arguments.calls
    return arguments


def _count(text):
    return program.at_least(0, text)


def run(arguments):
    """Run the workload, print its tables, write the report; return the exit status."""
    if arguments.show:
        # Imported late, as below.
        from verify.workloads import table as workload_table

        with io.open(arguments.show, encoding="utf-8") as file:
            table.show(workload_table.render(json.load(file)))
        return RAN
    wanted = expectations.load(arguments.expect) if arguments.expect else None
    for path in filter(None, (arguments.json, arguments.compile_folder, arguments.share_modules)):
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise EnvironmentError(2, "no such folder", os.path.dirname(path))
    if arguments.blas_threads:
        threads.ask_for(arguments.blas_threads)
    if arguments.stay:
        process.end_with_parent()
    if arguments.compile_folder:
        frameworks.use_compile_folder(os.path.abspath(arguments.compile_folder))
    shared = arguments.share_modules
    frameworks.share_modules(os.path.abspath(shared) if shared else None)
    asked = device_check.asked(wanted, os.environ.get("THEANO_FLAGS", ""))
    device = None
    if asked:
        device, reason = _look_for(asked, wanted)
        if device is None:
            fix = "what is said above; or take a variant that computes on the host"
            program.cannot_run("the workload", reason, fix)
            return NO_DEVICE
    framework = frameworks.load(wanted["module"] if wanted else None)
    if asked and not (framework.on_device and framework.flag("device") == asked):
        return program.cannot_run(
            "the workload",
            "Theano was asked for %s and took %s" % (asked, framework.flag("device")),
            "take `device` out of THEANO_FLAGS",
        )
    for module, option, wished, who in (
        ("theano_stacks_scan", "--fix-scan", arguments.fix_scan, "a variant"),
        ("theano_stacks_cache", "--keep-graphs", arguments.keep_graphs, "a variant on Theano"),
    ):
        if wished and not _brings(module):
            return program.cannot_run(
                "the workload",
                "this environment has no " + module,
                "take %s that is not the baseline, or leave %s out" % (who, option),
            )

    # Imported late: these import NumPy, which must not come before the thread counts are set.
    from verify.workloads import session as workload_session
    from verify.workloads import table as workload_table

    session = workload_session.Session(framework, wanted, arguments, device)
    if arguments.stay:
        workload_server.serve(session)
        return RAN
    session.call(arguments.calls)
    content = session.report()
    if arguments.json:
        report.write(arguments.json, content)
    if not arguments.quiet:
        table.show(workload_table.render(content))
    return RAN


def _look_for(asked, wanted):
    """Return (what the device is, None), or (None, why it cannot be had).

    A process of its own opens it first: the framework goes on without one, or hangs with it.
    """
    folder = tempfile.mkdtemp(prefix="workload-")
    try:
        given = os.environ.get("THEANO_FLAGS", "")
        context = Context(None, wanted, folder, given, requested_device=asked)
        check = device_check.check(context)
    finally:
        shutil.rmtree(folder, True)
    return context.device, check.detail


def _brings(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
