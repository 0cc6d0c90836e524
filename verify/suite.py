"""All checks and timings, in their order."""

from __future__ import absolute_import, division, print_function

import platform
import traceback
import warnings

from verify import (
    blas_ops,
    device,
    elementwise,
    kernels,
    libm,
    machine,
    mapping,
    native,
    numerics,
    operations,
    progress,
    registers,
    report,
    scan,
    serving,
    settings,
    threads,
    timings,
    upstream,
    versions,
)
from verify.mend import explain


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
    timed("compile", timings.compilation)
    checked(serving.NAME, serving.check)
    checked(mapping.NAME, mapping.check)
    if context.framework.name == "pytensor":
        checked("numba", serving.check_numba)
    if context.framework.name in upstream.AMDLIBM:
        checked(upstream.NAME, upstream.check)
    for operation in blas_ops.OPERATIONS:
        checked("%s in C" % operation.name, blas_ops.check, operation)
    for operation in blas_ops.OPERATIONS:
        checked("%s numbers" % operation.name, numerics.check, operation)
    checked(threads.NAME, threads.check)
    if libm.wanted(context):
        checked(libm.NAME, libm.check)
        checked(libm.LOOPS, libm.check_loops)
        checked(libm.ACCURACY, libm.check_accuracy)
    checked(scan.NAME, scan.check)
    timed("import", timings.imports)
    timed("peak", timings.peaks)
    timed("Gemm", timings.products)
    timed("numba", timings.numba_products)
    timed("elementwise", elementwise.timings)
    checked(registers.NAME, registers.check, operations.calls(context))
    checked(kernels.NAME, kernels.check)
    for dtype in blas_ops.DTYPES:
        checked("Gemm %s speed" % dtype, timings.check_speed, dtype)
    if context.asked_device:
        checked(device.NAME, device.check)
    if context.device:
        found, measured = device.measure(context)
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
