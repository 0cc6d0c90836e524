"""Gibbs sampling in a restricted Boltzmann machine, as in the article on optimising scan.

The same chain twice: scan finds the weights by itself, or gets them as non_sequences.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.model import Model

GibbsSizes = collections.namedtuple("GibbsSizes", "visible hidden steps")

FULL = GibbsSizes(visible=784, hidden=500, steps=10)
SMALL = GibbsSizes(visible=6, hidden=4, steps=3)


def models(ops, small):
    """Return the chain without and with explicit non_sequences."""
    sizes = SMALL if small else FULL
    return [_chain(ops, sizes, "implicit", False), _chain(ops, sizes, "non_sequences", True)]


def _chain(ops, sizes, name, explicit):
    random = numpy.random.RandomState(5)
    weights = ops.shared(0.1 * random.randn(sizes.visible, sizes.hidden))
    visible_bias = ops.shared(numpy.zeros(sizes.visible))
    hidden_bias = ops.shared(numpy.zeros(sizes.hidden))
    start = ops.shared(random.randint(0, 2, sizes.visible).astype(ops.dtype))
    draw, dot = ops.binomial(1234), ops.tensor.dot

    def step(visible, w, bv, bh):
        hidden = draw((sizes.hidden,), ops.sigmoid(dot(visible, w) + bh))
        return draw((sizes.visible,), ops.sigmoid(dot(hidden, w.T) + bv))

    parameters = [weights, visible_bias, hidden_bias]
    outputs, updates = ops.scan(
        step if explicit else lambda visible: step(visible, *parameters),
        "gibbs",
        outputs_info=[start],
        non_sequences=parameters if explicit else [],
        n_steps=sizes.steps,
    )
    return Model(name, outputs[0][-1].sum(), updates, dict(sizes._asdict()))
