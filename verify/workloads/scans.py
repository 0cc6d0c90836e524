"""Scans that the article on optimising scan compares: the slow way to write one, and the fast way.

`gibbs`: Gibbs sampling in a restricted Boltzmann machine. The weights are scaled by a temperature,
as in annealed sampling. The step refers to the scaled weights, and scan computes them in each step;
or it gets them as non_sequences, computed once before the scan. The frameworks have an optimisation
that moves such computations out of the scan, after which both graphs are the same: so the pair is
compiled without it too.

`scan_gc`: the same scan with and without garbage collection (scan.allow_gc). Without it, results of
a step stay until the next one; but a function that collects garbage itself (allow_gc) frees them
after each call. So the last case has neither.

`scan_outside`: a product of the inputs in each step, and one product of all inputs outside of it.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

GibbsSizes = collections.namedtuple("GibbsSizes", "visible hidden steps")
GIBBS = GibbsSizes(visible=784, hidden=500, steps=10)
SMALL_GIBBS = GibbsSizes(visible=6, hidden=4, steps=3)
TEMPERATURE = 2.0
# Its name in Theano and Theano-PyMC, in Aesara, in PyTensor.
MOVING_OUT = ("scanOp_pushout_nonseqs_ops", "scan_pushout_nonseqs_ops", "scan_push_out_non_seq")
WalkSizes = collections.namedtuple("WalkSizes", "size batch steps")
WALK = WalkSizes(size=200, batch=100, steps=100)
SMALL_WALK = WalkSizes(size=4, batch=3, steps=5)
NetworkSizes = collections.namedtuple("NetworkSizes", "steps batch size")
NETWORK = NetworkSizes(steps=100, batch=20, size=200)
SMALL_NETWORK = NetworkSizes(steps=3, batch=2, size=4)


def gibbs(ops, small):
    """Return the chain without and with explicit non_sequences, optimised and as it is written."""
    sizes = SMALL_GIBBS if small else GIBBS
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


def scan_gc(ops, small):
    """Return the same scan with garbage collection, without its own, and without any."""
    sizes = SMALL_WALK if small else WALK
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


def scan_outside(ops, small):
    """Return the same recurrent network with the product inside and outside; equal results."""
    sizes = SMALL_NETWORK if small else NETWORK
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
