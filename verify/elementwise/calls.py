"""Calls of the operations that the suite compiles, for the check of the vector registers."""

from __future__ import absolute_import, division, print_function

import functools

import numpy

from verify.blas import operations as blas_operations
from verify.elementwise import speed as elementwise_speed

# A multiple of every vector's length, so that no scalar loop over the rest follows.
SIZE = 16
# g++ vectorises sqr unless an option forbids it, the others only with amdlibm-compat.
ELEMENTWISE = elementwise_speed.FUNCTIONS + ("sqr",)


def calls(context):
    """Yield (name, function without arguments) of each operation that compiles."""
    for name in ELEMENTWISE:
        function = elementwise_speed.of_context(context, name, "float32")
        yield name, functools.partial(function, numpy.ones((SIZE, SIZE), "float32"))
    for operation in blas_operations.OPERATIONS:
        for dtype in blas_operations.DTYPES:
            function = blas_operations.compiled(context, operation, dtype).function
            if function is not None:
                inputs, _ = operation.build(context.framework, dtype)
                values = [numpy.ones((SIZE,) * variable.ndim, dtype) for variable in inputs]
                name = "%s %s" % (operation.name, dtype)
                yield name, functools.partial(function, *values)
