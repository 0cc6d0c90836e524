"""Check that every BLAS operation, in both precisions, is C code that calls a BLAS library."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.blas import bindings
from verify.core import progress
from verify.core.clock import monotonic
from verify.core.fixes import compiler_fix, explained, ldflags_fix
from verify.core.report import failed, passed, skipped

DTYPES = ("float64", "float32")

# name: in the report; classes: op classes that may do the work; build: (framework, dtype) ->
# (symbolic inputs, symbolic output).
Operation = collections.namedtuple("Operation", "name classes build")
# function: None if it does not compile, with the reason in `error`; through_numpy: no compiled
# module calls a BLAS library, because the framework's substitute hands the work to NumPy;
# fix: that of the error.
CompiledOperation = collections.namedtuple("CompiledOperation", "function error through_numpy fix")


def _gemm(fw, dtype):
    alpha, beta = _scalars(fw, dtype)
    a, b, c = _variables(fw, "matrix", dtype, "abc")
    return [alpha, a, b, beta, c], beta * c + alpha * fw.tensor.dot(a, b)


def _gemv(fw, dtype):
    alpha, beta = _scalars(fw, dtype)
    (a,) = _variables(fw, "matrix", dtype, "a")
    x, y = _variables(fw, "vector", dtype, "xy")
    return [alpha, a, x, beta, y], beta * y + alpha * fw.tensor.dot(a, x)


def _ger(fw, dtype):
    alpha, _ = _scalars(fw, dtype)
    (a,) = _variables(fw, "matrix", dtype, "a")
    x, y = _variables(fw, "vector", dtype, "xy")
    return [alpha, a, x, y], a + alpha * fw.tensor.outer(x, y)


def _dot22(fw, dtype):
    a, b = _variables(fw, "matrix", dtype, "ab")
    return [a, b], fw.tensor.dot(a, b)


def _dot22scalar(fw, dtype):
    alpha, _ = _scalars(fw, dtype)
    a, b = _variables(fw, "matrix", dtype, "ab")
    return [alpha, a, b], alpha * fw.tensor.dot(a, b)


def _batched_dot(fw, dtype):
    a, b = _variables(fw, "tensor3", dtype, "ab")
    return [a, b], fw.batched_dot(a, b)


OPERATIONS = (
    Operation("Gemm", ("Gemm",), _gemm),
    Operation("Gemv", ("CGemv", "Gemv", "ScipyGemv"), _gemv),
    Operation("Ger", ("CGer", "Ger", "ScipyGer"), _ger),
    Operation("Dot22", ("Dot22",), _dot22),
    Operation("Dot22Scalar", ("Dot22Scalar",), _dot22scalar),
    Operation("BatchedDot", ("BatchedDot",), _batched_dot),
)

UNCOMPILED = "does not compile: "


def _scalars(fw, dtype):
    return fw.variable("scalar", dtype, "alpha"), fw.variable("scalar", dtype, "beta")


def _variables(fw, kind, dtype, names):
    return [fw.variable(kind, dtype, name) for name in names]


def compiled(context, operation, dtype):
    """Return the CompiledOperation, which is compiled and called at the first request."""
    key = operation.name, dtype
    if key not in context.operations:
        progress.note("compiling %s %s" % key)
        context.operations[key] = _compile(context, operation, dtype)
    return context.operations[key]


def _compile(context, operation, dtype):
    inputs, output = operation.build(context.framework, dtype)
    try:
        function = context.framework.function(inputs, output)
        function(*[numpy.ones((3,) * v.ndim, dtype) for v in inputs])
    except Exception as error:
        detail, fix = explained(context, error)
        return CompiledOperation(None, detail, False, fix)
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    return CompiledOperation(function, None, not bindings.bindings_of(modules), None)


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
