"""Gibbs sampling in a restricted Boltzmann machine, as in the article on optimising scan.

The weights are scaled by a temperature, as in annealed sampling. The step refers to the scaled
weights, and scan computes them in each step; or it gets them as non_sequences, computed once before
the scan. The frameworks have an optimisation that moves such computations out of the scan, after
which both graphs are the same: so the pair is compiled without it too.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

GibbsSizes = collections.namedtuple("GibbsSizes", "visible hidden steps")

FULL = GibbsSizes(visible=784, hidden=500, steps=10)
SMALL = GibbsSizes(visible=6, hidden=4, steps=3)
TEMPERATURE = 2.0
# Its name in Theano and Theano-PyMC, in Aesara, in PyTensor.
MOVING_OUT = ("scanOp_pushout_nonseqs_ops", "scan_pushout_nonseqs_ops", "scan_push_out_non_seq")


def models(ops, small):
    """Return the chain without and with explicit non_sequences, optimised and as it is written."""
    sizes = SMALL if small else FULL
    return [
        _chain(ops, sizes, "implicit", None),
        _chain(ops, sizes, "non_sequences", "implicit"),
        _chain(ops, sizes, "implicit as written", None, MOVING_OUT),
        _chain(ops, sizes, "non_sequences as written", "implicit as written", MOVING_OUT),
    ]


def _chain(ops, sizes, name, slow, excluding=()):
    random = numpy.random.RandomState(5)
    weights = ops.shared(0.1 * random.randn(sizes.visible, sizes.hidden))
    visible_bias = ops.shared(numpy.zeros(sizes.visible))
    hidden_bias = ops.shared(numpy.zeros(sizes.hidden))
    scaled = weights / ops.constant(TEMPERATURE)
    start = ops.shared(random.randint(0, 2, sizes.visible).astype(ops.dtype))
    draw, dot = ops.binomial(1234), ops.tensor.dot

    def step(visible, w, bv, bh):
        hidden = draw((sizes.hidden,), ops.sigmoid(dot(visible, w) + bh))
        return draw((sizes.visible,), ops.sigmoid(dot(hidden, w.T) + bv))

    parameters = [scaled, visible_bias, hidden_bias]
    outputs, updates = ops.scan(
        step if slow else lambda visible: step(visible, *parameters),
        "gibbs",
        outputs_info=[start],
        non_sequences=parameters if slow else [],
        n_steps=sizes.steps,
    )
    shape = dict(sizes._asdict())
    return Model(name, outputs[0][-1].sum(), updates, shape, slow=slow, excluding=excluding)
