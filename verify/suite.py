"""All checks and timings, in their order."""

from __future__ import absolute_import, division, print_function

import platform
import traceback
import warnings

from verify.blas import kernels, numerics, one_blas, serving, threads
from verify.blas import operations as blas_operations
from verify.blas import speed as blas_speed
from verify.checks import compile_time, known_faults, scan, settings, versions
from verify.core import machine, native, progress, report
from verify.core.fixes import explain
from verify.device import check as device_check
from verify.elementwise import accuracy, libm, registers
from verify.elementwise import calls as elementwise_calls
from verify.elementwise import speed as elementwise_speed


def run(context, debug=False):
    """Return ([Check], [Timing]) of one environment. A fault in one ends that one only."""
    checks, times = [], []
    # Deprecations of the framework concern its makers, not those who verify an environment.
    warnings.simplefilter("ignore")

    def checked(name, function, *more):
        progress.note("checking %s" % name)
        try:
            checks.append(function(context, *more))
        except Exception as error:
            if debug:
                traceback.print_exc()
            checks.append(
                report.failed(name, explain(error), "run verify again with --debug for the details")
            )

    def timed(name, function):
        try:
            times.extend(function(context))
        except native.NoCompilerError as error:
            checks.append(report.skipped(name, str(error)))
        except Exception as error:
            if debug:
                traceback.print_exc()
            checks.append(
                report.failed(name, explain(error), "run verify again with --debug for the details")
            )

    checked(versions.NAME, versions.check)
    checked(settings.NAME, settings.check)
    checked("blas.ldflags", serving.check_ldflags)
    timed("compile", compile_time.compilation)
    checked(serving.NAME, serving.check)
    checked(one_blas.NAME, one_blas.check)
    if context.framework.name == "pytensor":
        checked("numba", serving.check_numba)
    if context.framework.name in known_faults.AMDLIBM:
        checked(known_faults.NAME, known_faults.check)
    for operation in blas_operations.OPERATIONS:
        checked("%s in C" % operation.name, blas_operations.check, operation)
    for operation in blas_operations.OPERATIONS:
        checked("%s numbers" % operation.name, numerics.check, operation)
    checked(threads.NAME, threads.check)
    if libm.is_expected(context):
        checked(libm.NAME, libm.check)
        checked(libm.LOOPS, libm.check_loops)
        checked(accuracy.NAME, accuracy.check)
    checked(scan.NAME, scan.check)
    timed("import", compile_time.imports)
    timed("peak", blas_speed.peaks)
    timed("Gemm", blas_speed.products)
    timed("numba", blas_speed.numba_products)
    timed("elementwise", elementwise_speed.timings)
    checked(registers.NAME, registers.check, elementwise_calls.calls(context))
    checked(kernels.NAME, kernels.check)
    for dtype in blas_operations.DTYPES:
        checked("Gemm %s speed" % dtype, blas_speed.check_speed, dtype)
    if context.asked_device:
        checked(device_check.NAME, device_check.check)
    if context.device:
        found, measured = device_check.measure(context)
        checks += found
        times += measured
    return checks, times


def document(context, checks, times):
    """Return the report as report.schema.json describes it."""
    expectation, framework = context.expectation or {}, context.framework
    return report.document(
        variant=expectation.get("variant"),
        framework={
            "name": expectation.get("framework", "%s-%s" % (framework.name, framework.version)),
            "module": framework.name,
            "version": framework.version,
            "python": platform.python_version(),
        },
        machine=machine.describe(context.peaks),
        settings=settings.in_force(context),
        packages=versions.packages(context),
        checks=checks,
        timings=times,
        device=context.device,
    )
