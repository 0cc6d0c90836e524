"""Gibbs sampling in a restricted Boltzmann machine, as the article on optimising scan has it.

The same chain twice: the weights found by scan itself, and given to it as non_sequences.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.model import Model

Sizes = collections.namedtuple("Sizes", "visible hidden steps")

FULL = Sizes(visible=784, hidden=500, steps=10)
SMALL = Sizes(visible=6, hidden=4, steps=3)


def models(ops, small):
    """Return the chain without and with explicit non_sequences."""
    sizes = SMALL if small else FULL
    return [_chain(ops, sizes, "implicit", False), _chain(ops, sizes, "non_sequences", True)]


def _chain(ops, sizes, name, explicit):
    random = numpy.random.RandomState(5)
    weights = ops.shared(0.1 * random.randn(sizes.visible, sizes.hidden))
    of_visible, of_hidden = (
        ops.shared(numpy.zeros(sizes.visible)),
        ops.shared(numpy.zeros(sizes.hidden)),
    )
    start = ops.shared(random.randint(0, 2, sizes.visible).astype(ops.dtype))
    draw, dot = ops.binomial(1234), ops.tensor.dot

    def step(visible, w, bv, bh):
        hidden = draw((sizes.hidden,), ops.sigmoid(dot(visible, w) + bh))
        return draw((sizes.visible,), ops.sigmoid(dot(hidden, w.T) + bv))

    given = [weights, of_visible, of_hidden]
    outputs, updates = ops.scan(
        step if explicit else lambda visible: step(visible, *given),
        "gibbs",
        outputs_info=[start],
        non_sequences=given if explicit else [],
        n_steps=sizes.steps,
    )
    return Model(name, outputs[0][-1].sum(), updates, dict(sizes._asdict()))
