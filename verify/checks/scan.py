"""Does scan run its compiled loop, and are its numbers right?"""

from __future__ import absolute_import, division, print_function

import importlib
import warnings

import numpy

from verify import context as contexts
from verify.core import causes, process, progress, report
from verify.core.fixes import compiler_fix, explained, has_compiler, repair_of, verify_command
from verify.core.report import failed, passed
from verify.core.surroundings import quote

NAME = "scan in C"
# What checks, in a process of its own.
PROBE = "checks.scan:checked"
STEPS = 50
# Seconds for the program that checks: it compiles one long module.
LONGEST = 600


def start(context, compile_fix=None):
    """Start the check in a process of its own; return the function that waits for it.

    To compile the loop takes longer than any other check, on one processor. compile_fix: of a
    function that does not compile, which is then the fix of a scan, too.
    """
    started = context.start(PROBE, "scan", context.user_flags)

    def finish():
        try:
            found = report.Check(*started.answer(LONGEST))
        except process.NoAnswerError as error:
            fix = compile_fix or _debug_fix(context)
            return failed(NAME, "its process failed: %s" % error, fix)
        if found.status != report.FAIL:
            return found
        if compile_fix:
            return found._replace(fix=compile_fix)
        if not context.expectation:
            return found
        # The process does not know what the builder has locked.
        if has_compiler(context):
            return found._replace(fix=causes.repaired(found.fix, repair_of(context)))
        return found._replace(fix=compiler_fix(context))

    return finish


def _fix(context):
    return _debug_fix(context) if has_compiler(context) else compiler_fix(context)


def _debug_fix(context):
    """Return what stands for the fix of a failure that is not recognised."""
    words = (verify_command(), PROBE, context.framework.name, quote(context.user_flags))
    return causes.unknown('%s probe %s %s "$(mktemp -d)" %s' % words)


def check(context):
    """Check that a scan runs its steps in the compiled loop and gives the right numbers."""
    framework = context.framework
    try:
        loop = _loop(framework)
    except Exception as error:
        detail, fix = explained(context, error)
        return failed(NAME, "the compiled loop is missing: " + detail, fix)
    perform, calls = loop.perform, []
    if type(perform).__name__ == "function":
        return failed(NAME, "the loop is Python code, not compiled", _fix(context))
    progress.note("compiling a scan")
    function = _cumulative(framework)

    def counted(*arguments, **named):
        calls.append(1)
        return perform(*arguments, **named)

    values = numpy.linspace(-1, 1, STEPS)
    loop.perform = counted
    try:
        result = function(values)
    finally:
        loop.perform = perform
    expected, state = [], 0.0
    for value in values:
        state = 0.5 * state + value
        expected.append(state)
    if not numpy.allclose(result, expected, rtol=1e-12, atol=1e-12):
        detail = "wrong numbers: off by %.1e" % numpy.abs(result - expected).max()
        return failed(NAME, detail, _fix(context))
    if not calls:
        detail = "the loop is compiled, but a scan's steps did not run in it"
        return failed(NAME, detail, _fix(context))
    version = getattr(loop, "version", None)
    return passed(NAME, "%d steps%s" % (STEPS, ", loop %s" % version if version else ""))


def _loop(framework):
    for package in ("scan", "scan_module"):
        try:
            importlib.import_module("%s.%s" % (framework.name, package))
        except ImportError:
            continue
        return importlib.import_module("%s.%s.scan_perform_ext" % (framework.name, package))
    raise ImportError("%s has no scan" % framework.name)


def _cumulative(framework):
    """Return the compiled function of a vector: the sums with halved sums before them."""
    values = framework.variable("vector", "float64", "values")
    start = framework.tensor.constant(numpy.float64(0))
    (output,), _ = framework.scan(
        lambda value, state: 0.5 * state + value, sequences=values, outputs_info=start
    )
    is_old = framework.module.__dict__.get("scan_module") is not None
    name = ".scan_module.scan_op" if is_old else ".scan.op"
    scan_class = importlib.import_module(framework.name + name).Scan
    # The C compiler would take ten seconds for the operations around the loop, so they run in
    # Python. The loop's thunk is made without `impl`, as the C virtual machine makes it.
    make_thunk = scan_class.make_thunk

    def make_c_thunk(self, node, storage_map, compute_map, no_recycling, *_, **__):
        return make_thunk(self, node, storage_map, compute_map, no_recycling)

    scan_class.make_thunk = make_c_thunk
    try:
        return framework.function([values], output, linker="py")
    finally:
        scan_class.make_thunk = make_thunk


def checked(name, folder, user_flags):
    """Check in a process of its own; return the check. The arguments are those of of_program."""
    warnings.simplefilter("ignore")
    context = contexts.of_program(name, folder, user_flags)
    try:
        return check(context)
    except Exception as error:
        return failed(NAME, *explained(context, error))
