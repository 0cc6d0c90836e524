"""A product of the inputs in each step of a scan, and one product of all inputs outside of it."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

ScanOutsideSizes = collections.namedtuple("ScanOutsideSizes", "steps batch size")

FULL = ScanOutsideSizes(steps=100, batch=20, size=200)
SMALL = ScanOutsideSizes(steps=3, batch=2, size=4)


def models(ops, small):
    """Return the same recurrent network with the product inside and outside; equal results."""
    sizes = SMALL if small else FULL
    return [_network(ops, sizes, "inside", False), _network(ops, sizes, "outside", True)]


def _network(ops, sizes, name, is_outside):
    random = numpy.random.RandomState(13)
    scale = numpy.sqrt(sizes.size)
    inputs = ops.shared(random.randn(sizes.steps, sizes.batch, sizes.size))
    of_input, of_state = (
        ops.shared(random.randn(sizes.size, sizes.size) / scale) for _ in range(2)
    )
    start = ops.shared(numpy.zeros((sizes.batch, sizes.size)))
    tanh, dot = ops.tensor.tanh, ops.tensor.dot

    def step(x, state, w, v):
        return tanh((x if is_outside else dot(x, v)) + dot(state, w))

    outputs, updates = ops.scan(
        step,
        "network",
        sequences=[dot(inputs, of_input) if is_outside else inputs],
        outputs_info=[start],
        non_sequences=[of_state, of_input],
    )
    slow = "inside" if is_outside else None
    shape = dict(sizes._asdict())
    return Model(name, outputs[-1].sum(), list(updates.items()), shape, slow=slow)
