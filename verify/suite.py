"""All checks and timings, in order."""

from __future__ import absolute_import, division, print_function

import traceback
import warnings

from verify.blas import chains, kernels, operations, serving, threads
from verify.blas import operations as blas_operations
from verify.blas import speed as blas_speed
from verify.checks import compile_time, files, framework_faults, scan, settings, versions
from verify.core import c_code, configuration, progress, report
from verify.core.fixes import explained
from verify.device import check as device_check
from verify.elementwise import libm, loops, registers


def run(context, debug=False):
    """Run every check and timing; return ([Check], [Timing]).

    An exception becomes a failed check, and the next check runs.
    """
    checks, times = [], []
    # Deprecation warnings are for the framework's developers.
    warnings.simplefilter("ignore")

    def failure(name, error):
        if debug:
            traceback.print_exc()
        return report.failed(name, *explained(context, error))

    def add_check(name, function, *more):
        progress.note("checking %s" % name)
        try:
            checks.append(function(context, *more))
        except Exception as error:
            checks.append(failure(name, error))

    def start(name, function, *more):
        """Start a check that another process does; return the function that waits for it."""
        try:
            return function(context, *more)
        except Exception as error:
            check = failure(name, error)
            return lambda: check

    def add_timings(name, function):
        try:
            times.extend(function(context))
        except c_code.NoCompilerError as error:
            checks.append(report.skipped(name, str(error)))
        except Exception as error:
            checks.append(failure(name, error))

    def add_numbers():
        for operation in blas_operations.OPERATIONS:
            add_check("%s numbers" % operation.name, operations.check_numbers, operation)

    if context.framework.name == "numpy":
        add_check(serving.NAME, serving.check)
        add_check(threads.NAME, lambda _: threads.start(context)())
        add_timings("import", compile_time.imports)
        add_timings("peak", kernels.time_peaks)
        add_timings("Gemm", blas_speed.products)
        add_check(kernels.NAME, kernels.check)
        for dtype in blas_operations.DTYPES:
            add_check("Gemm %s speed" % dtype, blas_speed.check_speed, dtype)
        return checks, times
    add_check(files.NAME, files.check)
    add_check(versions.NAME, versions.check)
    add_check(settings.NAME, settings.check)
    add_check(compile_time.FOLDER_CHECK, compile_time.check_folder)
    add_check("blas.ldflags", serving.check_ldflags)
    add_timings("compile", compile_time.compilation)
    # Other processes do these beside this one, before what is timed.
    finish_scan = start(scan.NAME, scan.start)
    for source in (kernels.SOURCE, registers.SOURCE):
        try:
            c_code.begin(context.framework.flag("cxx"), source, context.folder)
        except c_code.NoCompilerError:
            break
    finish_numba = registers.start_compiling(context, configuration.NUMBA)
    finish_compiling = registers.start_compiling(context)
    add_check(serving.NAME, serving.check)
    finish_threads = start(threads.NAME, threads.start)
    add_check(framework_faults.NAME, framework_faults.check)
    for operation in blas_operations.OPERATIONS:
        add_check("%s in C" % operation.name, blas_operations.check, operation)
    if finish_compiling:
        # Its process compiles beside these.
        add_numbers()
        finish_compiling()
    finish_registers = start(registers.NAME, registers.start, registers.calls_of(context))
    if not finish_compiling:
        add_numbers()
    if finish_numba:
        finish_numba()
    add_check(serving.ONE_BLAS, serving.check_one_blas)
    if context.framework.name == "pytensor":
        add_check(chains.NUMBA, chains.check_numba)
    add_check(loops.NAME, loops.check)
    if libm.is_expected(context):
        add_check(libm.NAME, libm.check)
        add_check(libm.LOOPS, libm.check_loops)
        add_check(libm.ACCURACY, libm.check_accuracy)
    if framework_faults.has_accelerator(context):
        add_check(framework_faults.ACCELERATOR, framework_faults.check_accelerator)
    add_check(scan.NAME, lambda _: finish_scan())
    add_check(registers.NAME, lambda _: finish_registers())
    add_check(threads.NAME, lambda _: finish_threads())
    if not (context.expectation or context.framework.runs_numba):
        add_check(chains.NAME, chains.check)
    add_check(settings.COST, settings.check_cost)
    add_timings("import", compile_time.imports)
    add_timings("peak", kernels.time_peaks)
    add_timings("Gemm", blas_speed.products)
    add_timings("numba", blas_speed.numba_products)
    if context.full and context.framework.name == "pytensor":
        linker_check, linker_times = compile_time.linkers(context)
        checks.append(linker_check)
        times += linker_times
    add_timings("elementwise", loops.timings)
    add_check(kernels.NAME, kernels.check)
    for dtype in blas_operations.DTYPES:
        add_check("Gemm %s speed" % dtype, blas_speed.check_speed, dtype)
    if context.requested_device:
        add_check(device_check.NAME, device_check.check)
    if context.device:
        device_checks, device_times = device_check.measure(context)
        checks += device_checks
        times += device_times
    return checks, times
