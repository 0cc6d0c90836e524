"""Time how long Theano's optimisers take to move a graph to the device.

The graph is a training step of a stacked bidirectional recurrent network with unrolled steps: many
small products and elementwise operations.
"""

from __future__ import absolute_import, division, print_function

import sys

import numpy
import theano
from theano import gof, tensor
from theano.compile import optdb
from theano.tensor import nnet

from verify.blas.threads import processor_time
from verify.core import graph as graphs

WIDTH, CLASSES = 16, 5
# The optimiser that moves graphs to the device, and GraphToGPU, its part that moves a whole graph.
MOVER, GRAPH = "gpuarray_opt", "gpuarray_graph_optimization"


def stack(layers, steps):
    """Return (inputs, outputs) of a training step: the loss, and the parameters after it."""
    x, labels = tensor.ftensor3("x"), tensor.ivector("labels")
    parameters, sequence, width = [], [x[i] for i in range(steps)], WIDTH
    start = tensor.alloc(numpy.float32(0), x.shape[1], WIDTH)
    for _ in range(layers):
        ways = []
        for step in (1, -1):
            gates = [_gate(width, parameters) for _ in range(3)]
            states, state = [], start
            for value in sequence[::step]:
                state = _step(value, state, gates)
                states.append(state)
            ways.append(states[::step])
        sequence = [tensor.concatenate(pair, axis=1) for pair in zip(*ways)]
        width = 2 * WIDTH
    last = _parameter(width, CLASSES)
    parameters.append(last)
    guess = nnet.softmax(tensor.dot(sequence[-1], last))
    loss = nnet.categorical_crossentropy(guess, labels).mean()
    slopes = tensor.grad(loss, parameters)
    outputs = [loss] + [p - numpy.float32(0.1) * g for p, g in zip(parameters, slopes)]
    inputs = [v for v in gof.graph.inputs(outputs) if not isinstance(v, gof.Constant)]
    return inputs, outputs


def _parameter(*shape):
    return theano.shared(numpy.zeros(shape, "float32"))


def _gate(width, parameters):
    made = [_parameter(width, WIDTH), _parameter(WIDTH, WIDTH), _parameter(WIDTH)]
    parameters += made
    return made


def _step(value, state, gates):
    """Return the next state of a gated recurrent unit."""
    update, reset, candidate = gates

    def into(gate, recurrent):
        return tensor.dot(value, gate[0]) + recurrent + gate[2]

    z = nnet.sigmoid(into(update, tensor.dot(state, update[1])))
    r = nnet.sigmoid(into(reset, tensor.dot(state, reset[1])))
    new = tensor.tanh(into(candidate, r * tensor.dot(state, candidate[1])))
    return z * state + (1 - z) * new


def compare(layers, steps, tags, samples):
    """Return {mode: result of run()}, with the sizes of the network."""
    sys.setrecursionlimit(100000)
    results = {"layers": layers, "steps": steps, "width": WIDTH}
    inputs, outputs = stack(layers, steps)
    for tag in tags:
        results[tag] = run(inputs, outputs, tag, samples)
    return results


def run(inputs, outputs, tag, samples=2):
    """Optimise the graph in a mode, `fast_run` or `fast_compile`, and return a dictionary.

    seconds: of all optimisers, with GraphToGPU; graph, local: samples of the seconds of the move
    with GraphToGPU and without it, by turns; nodes: their number at first, before and after the
    move; applied: how many GraphToGPU has moved; device, host: as in NodePlaces, the former as a
    sum.
    """
    # As Theano itself does while it optimises: cached constants cannot be part of a graph.
    tensor.basic.constant.enable = False
    try:
        return _run(inputs, outputs, tag, samples)
    finally:
        tensor.basic.constant.enable = True


def _run(inputs, outputs, tag, count):
    optimisers = _optimisers(tag)
    place = [getattr(one, "name", None) for one in optimisers].index(MOVER)
    movers = {"graph": optimisers[place], "local": _optimisers(tag, GRAPH)[place]}
    graph = gof.FunctionGraph(inputs, outputs, clone=True)
    nodes, samples = [len(graph.apply_nodes)], {"graph": [], "local": []}
    seconds = sum(_timed(one, graph)[0] for one in optimisers[:place])
    for _ in range(count):
        for name in ("local", "graph"):
            # With the features that earlier optimisers added.
            moved = gof.FunctionGraph(graph.inputs, graph.outputs, clone=True)
            for optimiser in optimisers[:place]:
                optimiser.add_requirements(moved)
            last, profile = _timed(movers[name], moved)
            samples[name].append(last)
    nodes += [len(graph.apply_nodes), len(moved.apply_nodes)]
    where = graphs.places(moved.toposort())
    seconds += last + sum(_timed(one, moved)[0] for one in optimisers[place + 1 :])
    return {
        "seconds": seconds,
        "graph": samples["graph"],
        "local": samples["local"],
        "nodes": nodes,
        "applied": _applied(profile),
        "device": sum(where.device.values()),
        "host": where.host,
    }


def _optimisers(tag, *excluded):
    left_out = [name for name in theano.config.optimizer_excluding.split(":") if name]
    return optdb.query(gof.Query(include=[tag], exclude=left_out + list(excluded)))


def _timed(optimiser, graph):
    # Processor time, so that other programs on the machine do not count.
    start = processor_time()
    profile = optimiser.optimize(graph)
    return processor_time() - start, profile


def _applied(profile):
    """Return how many nodes GraphToGPU has moved, by the profile of MOVER."""
    moved = 0
    for optimiser, part in zip(profile[0], profile[6]):
        if isinstance(optimiser, theano.gpuarray.opt.GraphToGPU):
            _, _, _, _, counts = part
            moved += sum(counts.values())
    return moved
