"""Check that every BLAS operation is C code that calls a BLAS library, and its results.

The reference of the results is of higher precision.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.blas import bindings
from verify.core import progress
from verify.core.fixes import compiler_fix, explained, ldflags_fix, library_fix
from verify.core.report import failed, passed, skipped

DTYPES = ("float64", "float32")
# The reference of each precision's results, which has at least 11 bits more.
REFERENCES = {"float64": "longdouble", "float32": "float64"}

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
        # The second one is added in place, which alone calls the library: see OUTER.
        lambda by, alpha, a, x, y: a + alpha * by.outer(x, y) + alpha * by.outer(x * x, y),
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


def check(context, operation):
    """Check that an operation is C code that calls a BLAS library (the baseline: that not)."""
    name = "%s in C" % operation.name
    if not context.framework.has_blas_op(operation.classes):
        return skipped(name, "this version has no such operation: elementwise C code does the work")
    results = [_implementation(context, operation, dtype) for dtype in DTYPES]
    details = [detail for _, detail in results]
    detail = "; ".join("%s %s" % pair for pair in zip(DTYPES, details))
    if details[0] == details[1] and details[0].startswith(UNCOMPILED):
        # An error that they share.
        detail = "%s: %s" % (" and ".join(DTYPES), details[0])
    if context.is_baseline:
        if not any(is_fast for is_fast, _ in results):
            return passed(name, "slow path, as expected of the baseline: " + detail)
        return failed(name, "this is not the baseline: " + detail, ldflags_fix(context))
    if all(is_fast for is_fast, _ in results):
        return passed(name, detail)
    if context.is_by_numba:
        return skipped(name, "with linker=cvm: " + detail)
    if not context.framework.flag("cxx"):
        return failed(name, detail, compiler_fix(context))
    fixes = [compiled(context, operation, dtype).fix for dtype in DTYPES]
    return failed(name, detail, fixes[0] or fixes[1] or ldflags_fix(context))


def _implementation(context, operation, dtype):
    """Return (whether an operation is C code that calls a BLAS library, detail)."""
    done = compiled(context, operation, dtype)
    if done.error:
        return False, UNCOMPILED + done.error
    nodes = context.framework.implementations(done.function)
    kinds = [(type(node.op).__name__, implementation) for node, implementation in nodes]
    for kind, implementation in kinds:
        if kind in operation.classes:
            if implementation != "C":
                return False, "%s is %s" % (kind, implementation or "never run")
            if done.through_numpy:
                return False, "%s is C, but it calls NumPy, not a BLAS library" % kind
            return True, kind
    names = ", ".join(kind for kind, _ in kinds)
    return False, "is not in the compiled graph, which has: %s" % names


# (rows, inner, columns). LARGE makes every library use the edges of its kernels.
SHAPES = ((1, 1, 1), (2, 3, 4), (17, 33, 9), (65, 70, 67), (0, 3, 2), (3, 0, 2), (3, 2, 0))
LARGE = (210, 301, 203)
# Of fewer than 100,000 elements, and of the first outer product, Theano has a loop of its own.
OUTER = (401, 1, 302)
# A product of so many rows runs on all threads, also behind libblas_threads (its MATRIX_LARGE).
ON_ALL_THREADS = 1100
LAYOUTS = ("rows", "columns", "strided", "reversed", "reversed columns")
SCALARS = ((1.0, 0.0), (0.7, 1.0), (-1.3, 0.4))
# Of (shape, layouts of both matrices, scalars).
CASES = [
    (shape, (left, right), SCALARS[(len(left) + len(right)) % len(SCALARS)])
    for shape in SHAPES
    for left in LAYOUTS
    for right in LAYOUTS
] + [(shape, ("rows", "columns"), each) for shape in (LARGE, OUTER) for each in SCALARS]


def check_numbers(context, operation):
    """Check the results of an operation for many memory layouts, sizes and scalars."""
    name = "%s numbers" % operation.name
    if not context.framework.flag("cxx"):
        return skipped(name, "no compiler: nothing is compiled")
    cases, refused = 0, ""
    for dtype in DTYPES:
        done = compiled(context, operation, dtype)
        if done.error:
            # The check before says why.
            return skipped(name, "%s does not compile" % dtype)
        for shape, layouts, scalars in CASES:
            cases += 1
            try:
                case = shape, layouts, scalars
                error = _error(done.function, operation, dtype, case)
            except ValueError:
                # PyTensor 3.0 refuses stacks of empty matrices, which is not the library's fault.
                if 0 not in shape:
                    raise
                refused, error = "; empty matrices are refused by the framework", None
            if error:
                detail = "%s, %s x %s x %s, stored by %s and %s, alpha %s, beta %s: %s" % (
                    (dtype,) + shape + layouts + scalars + (error,)
                )
                return failed(name, detail, library_fix(context))
        if operation.name == "Gemm":
            cases += 1
            error = _error_on_all_threads(done.function, dtype)
            if error:
                return failed(name, "%s, %s" % (dtype, error), library_fix(context))
    return passed(name, "%d cases, float64 and float32%s" % (cases, refused))


def _exact_dot(a, b):
    """Return a product that calls no BLAS."""
    return numpy.dot(a, b) if a.dtype == numpy.longdouble else numpy.einsum("ij,j...->i...", a, b)


def _exact_batched_dot(left, right):
    return numpy.asarray([_exact_dot(a, b) for a, b in zip(left, right)])


def _error(function, operation, dtype, case):
    """Return what is wrong with the result of one case, or None."""
    shape, layouts, scalars = case
    random = numpy.random.RandomState(sum(shape))
    arguments = _arguments(random, operation, dtype, shape, layouts, scalars)
    exact = Algebra(_exact_dot, numpy.outer, _exact_batched_dot)
    expected = operation.formula(exact, *(z.astype(REFERENCES[dtype]) for z in arguments))
    # That of the absolute values need not be so precise: it is the error's bound.
    bound = operation.formula(exact, *(abs(z.astype("float64")) for z in arguments))
    result = function(*arguments)
    if result.shape != expected.shape:
        return "shape %s instead of %s" % (result.shape, expected.shape)
    if not expected.size:
        return None
    errors = numpy.abs(result - expected)
    # The rounding error of an inner product of length k is below about k * eps (Higham, Accuracy
    # and Stability of Numerical Algorithms, 3.1): twice that, and 8 operations around it.
    allowed = 2 * (shape[1] + 8) * numpy.finfo(dtype).eps * bound
    if (errors <= allowed).all():
        return None
    return "off by %.1e, rounding allows %.1e" % (numpy.nanmax(errors), numpy.nanmax(allowed))


def _error_on_all_threads(gemm, dtype):
    """Return what is wrong with a product that runs on all threads, or None.

    All sums are whole numbers below 2**24, which both precisions have: the result is exact. Each
    element of the product is another one than its neighbours.
    """
    counts = numpy.arange(ON_ALL_THREADS)
    left, inner, right = counts % 7 + 1, counts % 3 + 1, counts % 11 + 1
    pairs = (left, inner), (inner, right), (right, left)
    a, b, c = (numpy.outer(*pair).astype(dtype) for pair in pairs)
    one = numpy.asarray(1, dtype)
    expected = numpy.outer(left, right) * (inner**2).sum() + c
    wrong = int((gemm(one, a, b, one, c) != expected).sum())
    words = (wrong, ON_ALL_THREADS, ON_ALL_THREADS)
    text = "%d of the elements of a product of %d x %d on all threads are wrong" % words
    return text if wrong else None


def _arguments(random, operation, dtype, shape, layouts, scalars):
    sizes, values = dict(zip("ric", shape)), []
    for name, letters, layout in operation.inputs:
        if not letters:
            values.append(numpy.asarray(scalars[name == "beta"], dtype))
            continue
        inner = tuple(sizes[letter] for letter in letters if letter in sizes)
        array = stored(random, inner, dtype, layouts[layout])
        values.append(numpy.asarray([array, -array[::-1]]) if "s" in letters else array)
    return values


def stored(random, shape, dtype, layout):
    """Return an array of random numbers in one of LAYOUTS."""
    is_strided = layout == "strided"
    sized = [2 * n + 1 for n in shape] if is_strided else list(shape)
    values = random.uniform(-1, 1, sized).astype(dtype)
    if "columns" in layout:
        values = numpy.asfortranarray(values)
    every_other = tuple(slice(1, None, 2) for _ in shape)
    views = {
        "reversed": slice(None, None, -1),
        "reversed columns": (Ellipsis, slice(None, None, -1)),
    }
    return values[every_other] if is_strided else values[views.get(layout, Ellipsis)]
