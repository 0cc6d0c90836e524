"""All checks and timings, in order."""

from __future__ import absolute_import, division, print_function

import traceback
import warnings

from verify.blas import chains, kernels, serving, threads
from verify.blas import operations as blas_operations
from verify.blas import speed as blas_speed
from verify.checks import compile_time, files, framework_faults, scan, settings, versions
from verify.core import c_code, configuration, progress, report
from verify.core.fixes import explained
from verify.device import check as device_check
from verify.elementwise import libm, loops, registers

COMPILE_FAILED = ("compile", report.FAIL)


def run(context, debug=False):
    """Run every check and timing; return ([Check], [Timing])."""
    # Deprecation warnings are for the framework's developers.
    warnings.simplefilter("ignore")
    results = _Results(context, debug)
    is_alone = context.framework.name == "numpy"
    if is_alone:
        results.check(serving.NAME, serving.check)
        results.check(threads.NAME, results.start(threads.NAME, threads.start))
    else:
        _check_framework(context, results)
    results.time("import", compile_time.imports)
    results.time("peak", kernels.time_peaks)
    results.time("Gemm", blas_speed.products)
    results.time("numba", blas_speed.numba_products)
    if context.full and context.framework.name == "pytensor":
        check, timings = compile_time.linkers(context)
        results.checks.append(check)
        results.timings += timings
    if not is_alone:
        results.time("elementwise", loops.timings)
    results.check(kernels.NAME, kernels.check)
    for dtype in blas_operations.DTYPES:
        results.check("Gemm %s speed" % dtype, blas_speed.check_speed, dtype)
    if context.requested_device and not is_alone:
        results.check(device_check.NAME, device_check.check)
    if context.device:
        checks, timings = device_check.measure(context)
        results.checks += checks
        results.timings += timings
    return results.checks, results.timings


def _check_framework(context, results):
    results.check(files.NAME, files.check)
    results.check(versions.NAME, versions.check)
    results.check(settings.NAME, settings.check)
    results.check(compile_time.FOLDER_CHECK, compile_time.check_folder)
    results.check("blas.ldflags", serving.check_ldflags)
    results.time("compile", compile_time.compilation)
    # Other processes do these beside this one, before what is timed.
    fixes = [check.fix for check in results.checks if (check.name, check.status) == COMPILE_FAILED]
    finish_scan = results.start(scan.NAME, scan.start, *fixes)
    finish_numba = registers.start_compiling(context, configuration.NUMBA)
    finish_compiling = registers.start_compiling(context)
    results.check(serving.NAME, serving.check)
    finish_threads = results.start(threads.NAME, threads.start)
    results.check(framework_faults.NAME, framework_faults.check)
    for operation in blas_operations.OPERATIONS:
        results.check("%s in C" % operation.name, blas_operations.check, operation)
    for operation in blas_operations.OPERATIONS:
        results.check("%s numbers" % operation.name, blas_operations.check_numbers, operation)
    finish_compiling()
    finish_registers = results.start(registers.NAME, registers.start, registers.calls_of(context))
    finish_numba()
    results.check(serving.ONE_BLAS, serving.check_one_blas)
    if context.framework.name == "pytensor":
        results.check(chains.NUMBA, chains.check_numba)
    results.check(loops.NAME, loops.check)
    if libm.is_expected(context):
        results.check(libm.NAME, libm.check)
        results.check(libm.LOOPS, libm.check_loops)
        results.check(libm.ACCURACY, libm.check_accuracy)
    if framework_faults.has_accelerator(context):
        results.check(framework_faults.ACCELERATOR, framework_faults.check_accelerator)
    results.check(scan.NAME, finish_scan)
    results.check(registers.NAME, finish_registers)
    results.check(threads.NAME, finish_threads)
    if not (context.expectation or context.framework.runs_numba):
        results.check(chains.NAME, chains.check)
    results.check(settings.COST, settings.check_cost)


class _Results(object):
    """Collects what checks and timings find. An exception becomes a failed check."""

    def __init__(self, context, debug):
        self.checks, self.timings = [], []
        self._context, self._debug = context, debug

    def _failure(self, name, error):
        if self._debug:
            traceback.print_exc()
        return report.failed(name, *explained(self._context, error))

    def check(self, name, function, *more):
        """Add the check that a function of the context, and of more, returns."""
        progress.note("checking %s" % name)
        try:
            self.checks.append(function(self._context, *more))
        except Exception as error:
            self.checks.append(self._failure(name, error))

    def start(self, name, function, *more):
        """Start a check that another process does; return the function that waits, for `check`."""
        try:
            finish = function(self._context, *more)
        except Exception as error:
            failed = self._failure(name, error)
            return lambda _: failed
        return lambda _: finish()

    def time(self, name, function):
        """Add the timings that a function of the context returns."""
        try:
            self.timings.extend(function(self._context))
        except c_code.NoCompilerError as error:
            self.checks.append(report.skipped(name, str(error)))
        except Exception as error:
            self.checks.append(self._failure(name, error))
