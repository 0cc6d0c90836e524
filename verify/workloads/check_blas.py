"""The product that the frameworks' misc/check_blas.py times: C = 0.4 C + 0.8 A B.

Ten calls, float64, 5000 x 5000 as in the script, and 2000 x 2000 as in the table that it prints;
the same in float32, which the script computes with floatX=float32. The first call is not counted,
as in the scripts since Theano 0.9.
"""

from __future__ import absolute_import, division, print_function

import numpy

from verify.workloads.ops import Model

SIZES = (2000, 5000)
SMALL = (20,)
OTHER = {"float64": "float32", "float32": "float64"}


def models(ops, small):
    """Return the product for each size, in the workload's precision and, so named, in the other."""
    other = OTHER[ops.dtype]
    return [
        _product(ops, size, dtype, name % size)
        for dtype, name in ((ops.dtype, "%d"), (other, "%d " + other))
        for size in (SMALL if small else SIZES)
    ]


def _product(ops, size, dtype, name):
    a, b, c = (ops.module.shared(numpy.ones((size, size), dtype)) for _ in range(3))
    scalar = numpy.asarray
    product = scalar(0.8, dtype) * ops.tensor.dot(a, b)
    updates = [(c, scalar(0.4, dtype) * c + product)]
    return Model(name, None, updates, {"size": size}, 2.0 * size**3)
