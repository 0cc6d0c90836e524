"""The operations that the suite compiles, ready to be called."""

from __future__ import absolute_import, division, print_function

import functools

import numpy

from verify.blas import operations as blas_operations
from verify.elementwise import speed as elementwise_speed

# A whole number of vectors of any instruction set: no loop over what is left comes after.
SIZE = 16
# Of these g++ vectorises sqr wherever it is let; the others only with amdlibm-compat.
ELEMENTWISE = elementwise_speed.FUNCTIONS + ("sqr",)


def calls(context):
    """Yield (name, function without arguments) of each operation that could be compiled."""
    for name in ELEMENTWISE:
        function = elementwise_speed.compiled(context.framework, name, "float32")
        yield name, functools.partial(function, numpy.ones((SIZE, SIZE), "float32"))
    for operation in blas_operations.OPERATIONS:
        for dtype in blas_operations.DTYPES:
            function = blas_operations.compiled(context, operation, dtype).function
            if function is not None:
                inputs, _ = operation.build(context.framework, dtype)
                values = [numpy.ones((SIZE,) * variable.ndim, dtype) for variable in inputs]
                name = "%s %s" % (operation.name, dtype)
                yield name, functools.partial(function, *values)
