"""Check that every BLAS operation, in both precisions, is C code that calls a BLAS library."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.blas import bindings
from verify.core import progress
from verify.core.fixes import compiler_fix, explained, ldflags_fix
from verify.core.portable import monotonic
from verify.core.report import failed, passed, skipped

DTYPES = ("float64", "float32")

# name: in the report; classes: op classes that may do the work; inputs: of each (name, sizes,
# layout); formula: (an Algebra, inputs) -> output. Sizes are letters: rows, inner, columns, and a
# stack of two; a scalar has none. layout: which of two the check of numbers stores the array by.
Operation = collections.namedtuple("Operation", "name classes inputs formula")
# The functions of a formula: a framework's, which are symbolic, or NumPy's.
Algebra = collections.namedtuple("Algebra", "dot outer batched_dot")
# function: None if it does not compile, with the reason in `error`; through_numpy: no compiled
# module calls a BLAS library, because the framework's substitute hands the work to NumPy;
# fix: that of the error.
CompiledOperation = collections.namedtuple("CompiledOperation", "function error through_numpy fix")


ALPHA, BETA = ("alpha", "", 0), ("beta", "", 0)
A, B, C = ("a", "ri", 0), ("b", "ic", 1), ("c", "rc", 0)
OPERATIONS = (
    Operation(
        "Gemm",
        ("Gemm",),
        (ALPHA, A, B, BETA, C),
        lambda by, alpha, a, b, beta, c: beta * c + alpha * by.dot(a, b),
    ),
    Operation(
        "Gemv",
        ("CGemv", "Gemv", "ScipyGemv"),
        (ALPHA, A, ("x", "i", 1), BETA, ("y", "r", 0)),
        lambda by, alpha, a, x, beta, y: beta * y + alpha * by.dot(a, x),
    ),
    Operation(
        "Ger",
        ("CGer", "Ger", "ScipyGer"),
        (ALPHA, ("a", "rc", 0), ("x", "r", 1), ("y", "c", 0)),
        lambda by, alpha, a, x, y: a + alpha * by.outer(x, y),
    ),
    Operation("Dot22", ("Dot22",), (A, B), lambda by, a, b: by.dot(a, b)),
    Operation(
        "Dot22Scalar", ("Dot22Scalar",), (ALPHA, A, B), lambda by, alpha, a, b: alpha * by.dot(a, b)
    ),
    Operation(
        "BatchedDot",
        ("BatchedDot",),
        (("a", "sri", 0), ("b", "sic", 1)),
        lambda by, a, b: by.batched_dot(a, b),
    ),
)
KINDS = ("scalar", "vector", "matrix", "tensor3")

UNCOMPILED = "does not compile: "


def compiled(context, operation, dtype):
    """Return the CompiledOperation, which is compiled and called at the first request."""
    key = operation.name, dtype
    if key not in context.operations:
        progress.note("compiling %s %s" % key)
        context.operations[key] = _compile(context, operation, dtype)
    return context.operations[key]


def _compile(context, operation, dtype):
    framework = context.framework
    inputs = [framework.variable(KINDS[len(z)], dtype, name) for name, z, _ in operation.inputs]
    algebra = Algebra(framework.tensor.dot, framework.tensor.outer, framework.batched_dot)
    try:
        function = framework.function(inputs, operation.formula(algebra, *inputs))
        function(*ones(operation, 3, dtype))
    except Exception as error:
        detail, fix = explained(context, error)
        return CompiledOperation(None, detail, False, fix)
    modules = bindings.modules_below(framework.flag("compiledir"))
    return CompiledOperation(function, None, not bindings.bindings_of(modules), None)


def ones(operation, size, dtype):
    """Return arguments of an operation, all ones, of one size in each dimension."""
    return [numpy.ones((size,) * len(sizes), dtype) for _, sizes, _ in operation.inputs]


def by_numba(context, dtype):
    """Return the GemmUpdate of PyTensor's numba linker, which is compiled at the first request."""
    key = "Gemm by numba", dtype
    if key not in context.operations:
        progress.note("compiling Gemm %s with numba" % dtype)
        update = GemmUpdate(context.framework, dtype, mode="NUMBA")
        update.run()
        context.operations[key] = update
    return context.operations[key]


def check(context, operation):
    """Check that an operation is C code that calls a BLAS library (the baseline: that not)."""
    name = "%s in C" % operation.name
    if not context.framework.has_blas_op(operation.classes):
        return skipped(name, "this version has no such operation: elementwise C code does the work")
    results = [_implementation(context, operation, dtype) for dtype in DTYPES]
    detail = _joined([detail for _, detail in results])
    if context.is_baseline:
        if not any(is_fast for is_fast, _ in results):
            return passed(name, "slow path, as expected of the baseline: " + detail)
        return failed(name, "this is not the baseline: " + detail, ldflags_fix(context))
    if all(is_fast for is_fast, _ in results):
        return passed(name, detail)
    fixes = [compiled(context, operation, dtype).fix for dtype in DTYPES]
    fix = next((fix for fix in fixes if fix), None) or ldflags_fix(context)
    return failed(name, detail, fix if context.framework.flag("cxx") else compiler_fix(context))


def _joined(details):
    """Return the details of both precisions as one text, an error that they share only once."""
    if len(set(details)) == 1 and details[0].startswith(UNCOMPILED):
        return "%s: %s" % (" and ".join(DTYPES), details[0])
    return "; ".join("%s %s" % pair for pair in zip(DTYPES, details))


def _implementation(context, operation, dtype):
    """Return (whether an operation is C code that calls a BLAS library, detail)."""
    done = compiled(context, operation, dtype)
    if done.error:
        return False, UNCOMPILED + done.error
    nodes = context.framework.implementations(done.function)
    for node, implementation in nodes:
        kind = type(node.op).__name__
        if kind in operation.classes:
            if implementation != "C":
                return False, "%s is %s" % (kind, implementation or "never run")
            if done.through_numpy:
                return False, "%s is C, but it calls NumPy, not a BLAS library" % kind
            return True, kind
    kinds = ", ".join(type(node.op).__name__ for node, _ in nodes)
    return False, "is not in the compiled graph, which has: %s" % kinds


class GemmUpdate(object):
    """The function that the frameworks' misc/check_blas.py times: C = 0.4 C + 0.8 A B.

    mode: name of the framework's mode to compile with; None: that of LoadedFramework.function.
    """

    def __init__(self, framework, dtype, mode=None):
        self.dtype = dtype
        shared = framework.module.shared
        self.matrices = [shared(numpy.ones((1, 1), dtype)) for _ in range(3)]
        a, b, c = self.matrices
        scalar = numpy.asarray
        product = scalar(0.8, dtype) * framework.tensor.dot(a, b)
        updates = [(c, scalar(0.4, dtype) * c + product)]
        if mode:
            self.run = framework.module.function([], [], updates=updates, mode=mode)
        else:
            self.run = framework.function([], [], updates=updates, profile=False)

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        for variable in self.matrices:
            variable.set_value(numpy.ones((size, size), self.dtype), borrow=True)
        self.run()

    def seconds(self, calls=1):
        """Return the seconds that the calls take."""
        start = monotonic()
        for _ in range(calls):
            self.run()
        return monotonic() - start


class NumPyProduct(GemmUpdate):
    """The product of two matrices by NumPy, without a framework: C = A B."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.matrices = []

    def resize(self, size):
        """Set all matrices to ones of (size, size), and warm up."""
        self.matrices = [numpy.ones((size, size), self.dtype) for _ in range(3)]
        self.run()

    def run(self):
        """Multiply once."""
        a, b, c = self.matrices
        numpy.dot(a, b, out=c)


def gemm_rate(size, seconds):
    """Return the GFLOP/s of a product of two (size, size) matrices that takes so many seconds."""
    return 2.0 * size**3 / seconds / 1e9
