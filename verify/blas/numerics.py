"""Check the results of every BLAS operation against a reference of higher precision."""

from __future__ import absolute_import, division, print_function

import numpy

from verify.blas import operations as blas_operations
from verify.core.fixes import library_fix
from verify.core.report import failed, passed, skipped

# (rows, inner, columns). LARGE makes every library use the edges of its kernels.
SHAPES = ((1, 1, 1), (2, 3, 4), (17, 33, 9), (65, 70, 67), (0, 3, 2), (3, 0, 2), (3, 2, 0))
LARGE = (210, 301, 203)
# A product of so many rows runs on all threads, also behind libblas_threads (its MATRIX_LARGE).
ON_ALL_THREADS = 1100
LAYOUTS = ("rows", "columns", "strided", "reversed", "reversed columns")
SCALARS = ((1.0, 0.0), (0.7, 1.0), (-1.3, 0.4))


def check(context, operation):
    """Check the results of an operation for many memory layouts, sizes and scalars."""
    name = "%s numbers" % operation.name
    cases, refused = 0, 0
    for dtype in blas_operations.DTYPES:
        compiled = blas_operations.compiled(context, operation, dtype)
        if compiled.error:
            return skipped(name, "%s does not compile: %s" % (dtype, compiled.error))
        for case in _cases():
            shape, layouts, scalars = case
            cases += 1
            try:
                error = _error(context.products, compiled.function, operation, dtype, case)
            except ValueError:
                # PyTensor 3.0 refuses stacks of empty matrices, which is not the library's fault.
                if 0 not in shape:
                    raise
                refused, error = refused + 1, None
            if error:
                detail = "%s, %s x %s x %s, stored by %s and %s, alpha %s, beta %s: %s" % (
                    (dtype,) + shape + layouts + scalars + (error,)
                )
                return failed(name, detail, library_fix(context))
        if operation.name == "Gemm":
            cases += 1
            error = _error_on_all_threads(compiled.function, dtype)
            if error:
                return failed(name, "%s, %s" % (dtype, error), library_fix(context))
    note = "; empty matrices are refused by the framework" if refused else ""
    return passed(name, "%d cases, float64 and float32%s" % (cases, note))


def _cases():
    for shape in SHAPES:
        for left in LAYOUTS:
            for right in LAYOUTS:
                yield shape, (left, right), SCALARS[(len(left) + len(right)) % len(SCALARS)]
    for scalars in SCALARS:
        yield LARGE, ("rows", "columns"), scalars


def _error(products, function, operation, dtype, case):
    """Return what is wrong with the result of one case, or None.

    products: {key: exact product}, to which this case's are added.
    """
    shape, layouts, scalars = case
    random = numpy.random.RandomState(sum(shape))
    arguments = _arguments(random, operation, dtype, shape, layouts, scalars)

    def dot(a, b):
        # Scalars and what is added do not matter here, so these have the same products.
        kind = "Dot22" if operation.name in ("Gemm", "Dot22Scalar") else operation.name
        key = kind, dtype, shape, layouts, len(used)
        used.append(key)
        if key not in products:
            products[key] = numpy.dot(a, b)
        return products[key]

    used = []
    expected, bound = _reference(operation, arguments, dot)
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
    a = numpy.outer(left, inner).astype(dtype)
    b = numpy.outer(inner, right).astype(dtype)
    c = numpy.outer(right, left).astype(dtype)
    one = numpy.asarray(1, dtype)
    expected = numpy.outer(left, right) * (inner**2).sum() + c
    wrong = int((gemm(one, a, b, one, c) != expected).sum())
    if not wrong:
        return None
    size = "%d x %d" % (ON_ALL_THREADS, ON_ALL_THREADS)
    return "%d of the elements of a product of %s on all threads are wrong" % (wrong, size)


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
    sized = [2 * n + 1 for n in shape] if layout == "strided" else list(shape)
    values = random.uniform(-1, 1, sized).astype(dtype)
    if layout == "strided":
        return values[tuple(slice(1, None, 2) for _ in shape)]
    if layout == "columns":
        return numpy.asfortranarray(values)
    if layout == "reversed":
        return values[::-1]
    if layout == "reversed columns":
        return numpy.asfortranarray(values)[..., ::-1]
    return values


def _reference(operation, arguments, dot):
    """Return (the result in longdouble, the same of the absolute values: the error's bound)."""

    def batched_dot(left, right):
        return numpy.asarray([dot(a, b) for a, b in zip(left, right)])

    algebra = blas_operations.Algebra(dot, numpy.outer, batched_dot)
    wide = [numpy.asarray(a, numpy.longdouble) for a in arguments]
    result = operation.formula(algebra, *wide)
    return result, operation.formula(algebra, *[abs(a) for a in wide])
