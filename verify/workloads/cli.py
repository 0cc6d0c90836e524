"""The command line of the workloads: a name in, tables and a report out.

With --stay it serves calls of a compiled workload to the process that started this one, the bench.
Compiling may take minutes, a call less than a second. A request is a line on standard input with a
JSON object, and so is its response on standard output; the first response needs no request:

    (compiled)      -> {"ready": [{name, graph, compile} of each case, as in the report]}
    {"calls": 100}  -> {"seconds": {case: [seconds of each call]}}

It ends with its standard input. The system kills it when the process that started it ends
(process.end_with_parent), as it may be suspended then and would not notice.
"""

from __future__ import absolute_import, division, print_function

import argparse
import functools
import importlib
import io
import json
import os
import sys

from verify import table
from verify.blas import threads
from verify.context import Context
from verify.core import configuration, process, program, progress, report
from verify.core import expectation as expectations
from verify.core import framework as frameworks
from verify.device import check as device_check
from verify.workloads import devices, rounds

RAN, NO_DEVICE = 0, 3


def main(argv):
    """Run the program and return its exit status."""
    arguments = parse(argv)
    if arguments.show or arguments.stay or arguments.quiet:
        return program.exit_status("the workload", run, arguments)
    with progress.beat():
        return program.exit_status("the workload", run, arguments)


def parse(argv):
    """Return the parsed arguments. Invalid ones end the program with status 2."""
    parser = argparse.ArgumentParser(
        prog="workloads", description="Compile, time and profile a program that people really run."
    )
    parser.add_argument("workload", choices=rounds.PROGRAMS, nargs="?")
    parser.add_argument(
        "--case", metavar="NAME[,NAME]", help="run only these cases of the workload"
    )
    parser.add_argument(
        "--calls",
        metavar="N",
        type=program.positive,
        help="timed calls (default: 100; of check_blas: 10)",
    )
    parser.add_argument(
        "--profile-calls",
        metavar="N",
        type=functools.partial(program.at_least, 0),
        help="profiled calls after the timed ones (default: as many; 0: no profile)",
    )
    parser.add_argument("--dtype", choices=("float32", "float64"), help="the precision")
    parser.add_argument(
        "--linker",
        help="the framework's linker, `numba` for PyTensor's own, `jax` for JAX's default device",
    )
    parser.add_argument(
        "--fix-scan",
        action="store_true",
        help="import the environment's theano_stacks_scan first, which fixes scan's gradient",
    )
    parser.add_argument(
        "--keep-graphs",
        action="store_true",
        help="take graphs that an earlier start stored, and store them, as programs do in this "
        "environment (default: optimise each, which is timed)",
    )
    parser.add_argument("--small", action="store_true", help="use small shapes, for a quick try")
    parser.add_argument(
        "--compile-folder",
        metavar="FOLDER",
        help="the compile folder (default: the environment's own)",
    )
    parser.add_argument(
        "--share-modules",
        metavar="FOLDER",
        help="take missing modules from a folder shared with other environments, and add new ones "
        "to it (default: compile all of them)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no tables")
    parser.add_argument(
        "--stay",
        action="store_true",
        help="compile, then serve requests on standard input (for the bench)",
    )
    parser.add_argument("--show", metavar="FILE", help="print the tables of a report, run nothing")
    program.add_options(parser)
    arguments = parser.parse_args(argv)
    if bool(arguments.workload) == bool(arguments.show):
        parser.error("name a workload (%s), or --show FILE" % ", ".join(rounds.PROGRAMS))
    if arguments.calls is None:
        arguments.calls = 10 if arguments.workload == "check_blas" else rounds.CALLS
    if arguments.profile_calls is None:
        arguments.profile_calls = arguments.calls
    return arguments


def run(arguments):
    """Run the workload, print its tables, write the report; return the exit status."""
    if arguments.show:
        # Imported late, as in _start.
        from verify.workloads import table as workload_table

        with io.open(arguments.show, encoding="utf-8") as file:
            content = json.load(file)
        is_program = "processes" in content
        render = workload_table.render_program if is_program else workload_table.render
        table.show(render(content))
        return RAN
    program.check_folders(arguments.json, arguments.compile_folder, arguments.share_modules)
    if arguments.stay:
        process.end_with_parent()
    expectation = expectations.load(arguments.expect) if arguments.expect else None
    # What NumPy and the framework read when they are imported.
    if arguments.blas_threads:
        threads.set_variables(arguments.blas_threads)
    if arguments.compile_folder:
        configuration.use_compile_folder(os.path.abspath(arguments.compile_folder))
    shared = arguments.share_modules
    configuration.share_modules(os.path.abspath(shared) if shared else None)
    requested = device_check.requested(expectation, os.environ.get("THEANO_FLAGS", ""))
    device, error = _open(requested, expectation) if requested else (None, None)
    if error:
        fix = "as above; or use a variant that computes on the host"
        program.cannot_run("the workload", error, fix)
        return NO_DEVICE
    framework = frameworks.load(expectation["module"] if expectation else None)
    if requested and not (framework.on_device and framework.flag("device") == requested):
        return program.cannot_run(
            "the workload",
            "Theano opened %s instead of %s" % (framework.flag("device"), requested),
            "remove `device` from THEANO_FLAGS",
        )
    for module, option, is_on, variant in (
        ("theano_stacks_scan", "--fix-scan", arguments.fix_scan, "a variant"),
        ("theano_stacks_cache", "--keep-graphs", arguments.keep_graphs, "a variant on Theano"),
    ):
        if is_on and not frameworks.is_installed(module):
            return program.cannot_run(
                "the workload",
                "this environment has no " + module,
                "use %s that is not the baseline, or omit %s" % (variant, option),
            )
        if is_on:
            importlib.import_module(module)
    if "theano_stacks_cache" in sys.modules:
        framework.config.cache_optimizations = arguments.keep_graphs
    if arguments.linker == frameworks.JAX:
        device = dict(devices.find_jax()._asdict())
    return _start(framework, expectation, arguments, device)


def _open(requested, expectation):
    """Return (the report's description of the device, None), or (None, why it is not available).

    A process of its own tries first: the framework runs without a missing device, or hangs with it.
    """
    with program.temporary_folder() as folder:
        user_flags = os.environ.get("THEANO_FLAGS", "")
        context = Context(None, expectation, folder, user_flags, requested_device=requested)
        check = device_check.check(context)
    return context.device, None if context.device else check.detail


def _start(framework, expectation, arguments, device):
    # Imported late: these import NumPy, so they must come after its variables are set.
    from verify.workloads import run as workload_runs
    from verify.workloads import table as workload_table

    with devices.jax_failures(arguments):
        workload_run = workload_runs.WorkloadRun(framework, expectation, arguments, device)
    if arguments.stay:
        compiled = workload_run.compiled()
        rounds.serve(compiled, lambda request: {"seconds": workload_run.call(request["calls"])})
        return RAN
    workload_run.call(arguments.calls)
    content = workload_run.report()
    if arguments.json:
        report.write(arguments.json, content)
    if not arguments.quiet:
        table.show(workload_table.render(content))
    return RAN
