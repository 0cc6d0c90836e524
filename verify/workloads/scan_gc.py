"""The same scan with and without garbage collection (scan.allow_gc).

Without it, results of a step stay until the next one; but a function that collects garbage itself
(allow_gc) frees them after each call. So the last case has neither.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

ScanGcSizes = collections.namedtuple("ScanGcSizes", "size batch steps")

FULL = ScanGcSizes(size=200, batch=100, steps=100)
SMALL = ScanGcSizes(size=4, batch=3, steps=5)


def models(ops, small):
    """Return the same scan with garbage collection, without its own, and without any."""
    sizes = SMALL if small else FULL
    return [
        _walk(ops, sizes, "allow_gc", True),
        _walk(ops, sizes, "no_gc", False),
        _walk(ops, sizes, "no_gc at all", False, of_function=False),
    ]


def _walk(ops, sizes, name, allow_gc, of_function=True):
    random = numpy.random.RandomState(7)
    weights = ops.shared(random.randn(sizes.size, sizes.size) / numpy.sqrt(sizes.size))
    start = ops.shared(random.randn(sizes.batch, sizes.size))
    tanh, dot = ops.tensor.tanh, ops.tensor.dot
    outputs, updates = ops.scan(
        lambda state, w: tanh(dot(tanh(dot(state, w)), w) + state),
        "walk",
        outputs_info=[start],
        non_sequences=[weights],
        n_steps=sizes.steps,
        allow_gc=allow_gc,
    )
    slow = None if allow_gc else "allow_gc"
    shape = dict(sizes._asdict())
    output = outputs[0][-1].sum()
    return Model(name, output, list(updates.items()), shape, slow=slow, allow_gc=of_function)
