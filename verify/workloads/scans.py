"""A neural Turing machine, and the scans that the article on optimising scan compares.

`ntm`: a training step of a neural Turing machine (Graves et al., 2014), of the size in the article.
One sequence per step; an LSTM controller; four read heads, computed together, and one write head;
content addressing, interpolation, a shift by circular convolution over the whole memory, and
sharpening; RMSprop with momentum (Graves, 2013). Each head has its own parameters.

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

import numpy

from verify.workloads.ops import Model, Sizes

GIBBS = Sizes(visible=784, hidden=500, steps=10)
SMALL_GIBBS = Sizes(visible=6, hidden=4, steps=3)
TEMPERATURE = 2.0
# Its name in Theano and Theano-PyMC, in Aesara, in PyTensor.
MOVING_OUT = ("scanOp_pushout_nonseqs_ops", "scan_pushout_nonseqs_ops", "scan_push_out_non_seq")
WALK = Sizes(size=200, batch=100, steps=100)
SMALL_WALK = Sizes(size=4, batch=3, steps=5)
NETWORK = Sizes(steps=100, batch=20, size=200)
SMALL_NETWORK = Sizes(steps=3, batch=2, size=4)


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
    output = outputs[0][-1].sum()
    return Model(name, output, updates, vars(sizes), slow=slow, excluding=excluding)


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
    output = outputs[0][-1].sum()
    return Model(name, output, updates, vars(sizes), slow=slow, allow_gc=of_function)


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
    return Model(name, outputs[-1].sum(), updates, vars(sizes), slow=slow)


NTM = Sizes(steps=87, symbols=128, hidden=100, slots=128, width=20, readers=4)
SMALL_NTM = Sizes(steps=3, symbols=5, hidden=6, slots=7, width=4, readers=2)
GATES = "ifoc"
RATE, MOMENTUM, DECAY, SMALLEST, CLIP = 1e-4, 0.9, 0.95, 1e-4, 10.0


def ntm(ops, small):
    """Return the training step."""
    sizes = SMALL_NTM if small else NTM
    parameters, cost = training_cost(ops, sizes)
    names = sorted(parameters)
    gradients = ops.tensor.grad(cost, [parameters[name] for name in names])
    updates = []
    for name, gradient in zip(names, gradients):
        updates += _rmsprop(ops, parameters[name], gradient)
    return [Model("step", cost, updates, vars(sizes))]


def training_cost(ops, sizes):
    """Return ({name: shared parameter}, the symbolic cost of one sequence)."""
    random = numpy.random.RandomState(3)
    parameters = _ntm_parameters(ops, sizes, random)
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


def _ntm_parameters(ops, sizes, random):
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
