"""Every BLAS operation against a reference in longer numbers."""

from __future__ import absolute_import, division, print_function

import numpy

from verify.blas import operations as blas_operations
from verify.core.report import failed, passed, skipped

# Rows, inner, columns. The last is large enough for every library to use its kernels' edges and
# more than one thread.
SHAPES = ((1, 1, 1), (2, 3, 4), (17, 33, 9), (65, 70, 67), (0, 3, 2), (3, 0, 2), (3, 2, 0))
LARGE = (210, 301, 203)
LAYOUTS = ("rows", "columns", "strided", "reversed", "reversed columns")
SCALARS = ((1.0, 0.0), (0.7, 1.0), (-1.3, 0.4))


def check(context, operation):
    """Check the numbers of an operation for layouts, sizes and scalars that libraries differ on."""
    name = "%s numbers" % operation.name
    cases, refused = 0, 0
    for dtype in blas_operations.DTYPES:
        done = blas_operations.compiled(context, operation, dtype)
        if done.error:
            return skipped(name, "%s does not compile: %s" % (dtype, done.error))
        for shape, layouts, scalars in _cases():
            cases += 1
            try:
                wrong = _one(done.function, operation.name, dtype, shape, layouts, scalars)
            except ValueError:
                # PyTensor 3.0 refuses stacks of empty matrices. That is no wrong number, and no
                # library's doing.
                if 0 not in shape:
                    raise
                refused, wrong = refused + 1, None
            if wrong:
                detail = "%s, %s x %s x %s, stored by %s and %s, alpha %s, beta %s: %s" % (
                    (dtype,) + shape + layouts + scalars + (wrong,)
                )
                return failed(
                    name,
                    detail,
                    "this BLAS computes wrong numbers here: take another version or another "
                    "library, and report it to its makers",
                )
    told = "; empty matrices are refused by the framework" if refused else ""
    return passed(name, "%d cases, float64 and float32%s" % (cases, told))


def _cases():
    for shape in SHAPES:
        for left in LAYOUTS:
            for right in LAYOUTS:
                yield shape, (left, right), SCALARS[(len(left) + len(right)) % len(SCALARS)]
    for scalars in SCALARS:
        yield LARGE, ("rows", "columns"), scalars


def _one(function, name, dtype, shape, layouts, scalars):
    random = numpy.random.RandomState(sum(shape))
    arguments = _arguments(random, name, dtype, shape, layouts, scalars)
    expected, bound = _reference(name, arguments)
    found = function(*arguments)
    if found.shape != expected.shape:
        return "shape %s instead of %s" % (found.shape, expected.shape)
    if not expected.size:
        return None
    error = numpy.abs(found - expected)
    # Rounding of an inner product of length k is at most about k * eps; twice that, and room
    # for the few operations around it.
    allowed = 2 * (shape[1] + 8) * numpy.finfo(dtype).eps * bound
    if (error <= allowed).all():
        return None
    return "off by %.1e, rounding allows %.1e" % (numpy.nanmax(error), numpy.nanmax(allowed))


def _arguments(random, name, dtype, shape, layouts, scalars):
    rows, inner, columns = shape
    alpha, beta = (numpy.asarray(value, dtype) for value in scalars)
    left, right = layouts
    if name == "Gemm":
        c = stored(random, (rows, columns), dtype, left)
        return [
            alpha,
            stored(random, (rows, inner), dtype, left),
            stored(random, (inner, columns), dtype, right),
            beta,
            c,
        ]
    if name == "Gemv":
        a = stored(random, (rows, inner), dtype, left)
        x = stored(random, (inner,), dtype, right)
        return [alpha, a, x, beta, stored(random, (rows,), dtype, left)]
    if name == "Ger":
        a = stored(random, (rows, columns), dtype, left)
        x, y = stored(random, (rows,), dtype, right), stored(random, (columns,), dtype, left)
        return [alpha, a, x, y]
    if name == "BatchedDot":
        return [
            _stack(stored(random, (rows, inner), dtype, left)),
            _stack(stored(random, (inner, columns), dtype, right)),
        ]
    product = [
        stored(random, (rows, inner), dtype, left),
        stored(random, (inner, columns), dtype, right),
    ]
    return [alpha] + product if name == "Dot22Scalar" else product


def _stack(matrix):
    return numpy.asarray([matrix, -matrix[::-1]])


def stored(random, shape, dtype, layout):
    """Return random numbers of a shape that lie in memory in the way of a layout."""
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


def _reference(name, arguments):
    """Return (the exact result, the same with every term's absolute value)."""
    wide = [numpy.asarray(a, numpy.longdouble) for a in arguments]
    return _formula(name, wide), _formula(name, [abs(a) for a in wide])


def _formula(name, values):
    if name == "Gemm" or name == "Gemv":
        alpha, a, b, beta, c = values
        return alpha * numpy.dot(a, b) + beta * c
    if name == "Ger":
        alpha, a, x, y = values
        return a + alpha * numpy.outer(x, y)
    if name == "Dot22Scalar":
        alpha, a, b = values
        return alpha * numpy.dot(a, b)
    if name == "BatchedDot":
        a, b = values
        return numpy.asarray([numpy.dot(x, y) for x, y in zip(a, b)])
    a, b = values
    return numpy.dot(a, b)
