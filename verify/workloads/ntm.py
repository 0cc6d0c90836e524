"""A training step of a neural Turing machine (Graves et al., 2014), of the size in the article.

One sequence per step; an LSTM controller; four read heads, computed together, and one write head;
content addressing, interpolation, a shift by circular convolution over the whole memory, and
sharpening; RMSprop with momentum (Graves, 2013). Each head has its own parameters.
"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.workloads.ops import Model

NtmSizes = collections.namedtuple("NtmSizes", "steps symbols hidden slots width readers")

FULL = NtmSizes(steps=87, symbols=128, hidden=100, slots=128, width=20, readers=4)
SMALL = NtmSizes(steps=3, symbols=5, hidden=6, slots=7, width=4, readers=2)
GATES = "ifoc"
RATE, MOMENTUM, DECAY, SMALLEST, CLIP = 1e-4, 0.9, 0.95, 1e-4, 10.0


def models(ops, small):
    """Return the training step."""
    sizes = SMALL if small else FULL
    parameters, cost = training_cost(ops, sizes)
    names = sorted(parameters)
    gradients = ops.grad(cost, [parameters[name] for name in names])
    updates = []
    for name, gradient in zip(names, gradients):
        updates += _rmsprop(ops, parameters[name], gradient)
    return [Model("step", cost, updates, dict(sizes._asdict()))]


def training_cost(ops, sizes):
    """Return ({name: shared parameter}, the symbolic cost of one sequence)."""
    random = numpy.random.RandomState(3)
    parameters = _parameters(ops, sizes, random)
    words = random.randint(0, sizes.symbols, sizes.steps)
    inputs = ops.shared(numpy.eye(sizes.symbols)[words])
    expected = ops.shared(numpy.roll(words, 1))
    focus = numpy.zeros(sizes.slots)
    focus[0] = 1
    states = [
        numpy.zeros(sizes.hidden),
        numpy.zeros(sizes.hidden),
        0.1 * random.randn(sizes.slots, sizes.width),
        numpy.tile(focus, (sizes.readers, 1)),
        focus[numpy.newaxis],
    ]
    outputs, _ = ops.scan(
        _MachineStep(ops, sizes, parameters),
        "ntm",
        sequences=[inputs],
        outputs_info=[ops.state(state) for state in states],
    )
    scores = ops.tensor.dot(outputs[0], parameters["out.W"]) + parameters["out.b"]
    chances = ops.softmax(scores)
    right = chances[ops.tensor.arange(sizes.steps), expected]
    return parameters, -ops.tensor.log(right).mean()


def _parameters(ops, sizes, random):
    inputs = sizes.symbols + sizes.readers * sizes.width
    shapes = {"out.W": (sizes.hidden, sizes.symbols), "out.b": (sizes.symbols,)}
    for gate in GATES:
        shapes["controller.input.%s" % gate] = (inputs, sizes.hidden)
        shapes["controller.hidden.%s" % gate] = (sizes.hidden, sizes.hidden)
        shapes["controller.b.%s" % gate] = (sizes.hidden,)
    for head in _readers(sizes) + ["write"]:
        for part, size in _parts(sizes, head == "write"):
            shapes["%s.%s.W" % (head, part)] = (sizes.hidden, size)
            shapes["%s.%s.b" % (head, part)] = (size,)
    return {
        name: ops.shared(0.1 * random.randn(*shapes[name]), name=name) for name in sorted(shapes)
    }


def _readers(sizes):
    return ["read%d" % number for number in range(sizes.readers)]


def _parts(sizes, writes):
    parts = [
        ("key", sizes.width),
        ("strength", 1),
        ("gate", 1),
        ("shift", sizes.slots),
        ("sharpness", 1),
    ]
    return parts + [("erase", sizes.width), ("add", sizes.width)] if writes else parts


class _MachineStep(object):
    """The step of one symbol: the controller reads, writes and moves its heads."""

    def __init__(self, ops, sizes, parameters):
        self.ops, self.sizes, self.parameters = ops, sizes, parameters
        self.tensor = ops.tensor

    def __call__(self, symbol, hidden, cell, memory, reading, writing):
        """Return the next hidden, cell, memory, reading and writing."""
        stack = memory.dimshuffle("x", 0, 1)
        read = self.ops.batched_dot(reading.dimshuffle("x", 0, 1), stack)
        read = read.reshape((1, self.sizes.readers * self.sizes.width))
        x = self.tensor.concatenate([symbol.dimshuffle("x", 0), read], axis=1)
        output, cell = self._controller(x, hidden.dimshuffle("x", 0), cell.dimshuffle("x", 0))
        writing = self._address(["write"], output, stack, writing)
        stack = self._write(output, stack, writing)
        reading = self._address(_readers(self.sizes), output, stack, reading)
        return output[0], cell[0], stack[0], reading, writing

    def _controller(self, x, hidden, cell):
        i, f, o, c = (self._gate(gate, x, hidden) for gate in GATES)
        sigmoid, tanh = self.ops.sigmoid, self.tensor.tanh
        cell = sigmoid(f) * cell + sigmoid(i) * tanh(c)
        return sigmoid(o) * tanh(cell), cell

    def _gate(self, gate, x, hidden):
        input_weights, hidden_weights, bias = (
            self.parameters["controller.%s.%s" % (kind, gate)] for kind in ("input", "hidden", "b")
        )
        products = self.tensor.dot(x, input_weights) + self.tensor.dot(hidden, hidden_weights)
        return products + bias

    def _to_heads(self, heads, part, output):
        """Return a part of the controller's output to the heads, (heads, size)."""
        weights = [
            self.parameters["%s.%s.W" % (head, part)].dimshuffle("x", 0, 1) for head in heads
        ]
        biases = [self.parameters["%s.%s.b" % (head, part)].dimshuffle("x", 0) for head in heads]
        weights = self.tensor.concatenate(weights, axis=0)
        products = self.tensor.tensordot(output, weights, axes=[[1], [1]])
        return products[0] + self.tensor.concatenate(biases, axis=0)

    def _address(self, heads, output, stack, previous):
        tensor, ops = self.tensor, self.ops
        key = tensor.tanh(self._to_heads(heads, "key", output))
        strength = ops.softplus(self._to_heads(heads, "strength", output))[:, 0].dimshuffle(0, "x")
        gate = ops.sigmoid(self._to_heads(heads, "gate", output))[:, 0].dimshuffle(0, "x")
        shift = ops.softmax(self._to_heads(heads, "shift", output))
        sharpness = 1 + ops.softplus(self._to_heads(heads, "sharpness", output))[:, 0]
        likeness = ops.batched_dot(key.dimshuffle("x", 0, 1), stack.dimshuffle(0, 2, 1))[0]
        lengths = tensor.sqrt((key**2).sum(axis=1)).dimshuffle(0, "x")
        lengths = lengths * tensor.sqrt((stack**2).sum(axis=2)[0]).dimshuffle("x", 0)
        by_content = ops.softmax(strength * likeness / (lengths + 1e-6))
        mixed = gate * by_content + (1 - gate) * previous
        slots = self.sizes.slots
        twice = tensor.concatenate([mixed, mixed], axis=1)[:, : 2 * slots - 1]
        moved = ops.correlate_rows(twice, shift, len(heads), slots)
        sharp = (moved + 1e-6) ** sharpness.dimshuffle(0, "x")
        return sharp / sharp.sum(axis=1).dimshuffle(0, "x")

    def _write(self, output, stack, writing):
        erase = self.ops.sigmoid(self._to_heads(["write"], "erase", output))
        add = self.tensor.tanh(self._to_heads(["write"], "add", output))
        where = writing.dimshuffle("x", 1, 0)
        erased = self.ops.batched_dot(where, erase.dimshuffle("x", 0, 1))
        added = self.ops.batched_dot(where, add.dimshuffle("x", 0, 1))
        return stack * (1 - erased) + added


def _rmsprop(ops, parameter, gradient):
    zeros = numpy.zeros_like(parameter.get_value())
    squares, means, steps = (ops.shared(zeros) for _ in range(3))
    gradient = ops.tensor.clip(gradient, -CLIP, CLIP)
    square = DECAY * squares + (1 - DECAY) * gradient**2
    mean = DECAY * means + (1 - DECAY) * gradient
    step = MOMENTUM * steps - RATE * gradient / ops.tensor.sqrt(square - mean**2 + SMALLEST)
    return [(squares, square), (means, mean), (steps, step), (parameter, parameter + step)]
