"""The same scan with and without garbage collection after each call (scan.allow_gc)."""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.model import Model

ScanGcSizes = collections.namedtuple("ScanGcSizes", "size batch steps")

FULL = ScanGcSizes(size=200, batch=100, steps=100)
SMALL = ScanGcSizes(size=4, batch=3, steps=5)


def models(ops, small):
    """Return the same scan with garbage collection on and off."""
    sizes = SMALL if small else FULL
    return [_walk(ops, sizes, "allow_gc", True), _walk(ops, sizes, "no_gc", False)]


def _walk(ops, sizes, name, allow_gc):
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
    return Model(name, outputs[0][-1].sum(), list(updates.items()), dict(sizes._asdict()))
