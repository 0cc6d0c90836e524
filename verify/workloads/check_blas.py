"""The product that the frameworks' misc/check_blas.py times: C = 0.4 C + 0.8 A B.

Ten calls, float64, 5000 x 5000 as in the script, and 2000 x 2000 as in the table that it prints.
The first call is not counted, as in the scripts since Theano 0.9.
"""

from __future__ import absolute_import, division, print_function

import numpy

from verify.workloads.model import Model

SIZES = (2000, 5000)
SMALL = (20,)


def models(ops, small):
    """Return the product for each size."""
    return [_product(ops, size) for size in (SMALL if small else SIZES)]


def _product(ops, size):
    a, b, c = (ops.shared(numpy.ones((size, size))) for _ in range(3))
    product = ops.constant(0.8) * ops.tensor.dot(a, b)
    updates = [(c, ops.constant(0.4) * c + product)]
    return Model(str(size), None, updates, {"size": size}, 2.0 * size**3)
