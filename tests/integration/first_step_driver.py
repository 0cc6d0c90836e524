# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: UP031
"""Compile functions of each kind, print what they compute, their graphs, and what was kept.

Runs on Python 2.7 too.
"""

import hashlib
import json
import os
import sys

import numpy
import theano
from theano import tensor
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams

CONSTANT = float(os.environ.get("CONSTANT", "0.5"))


def graph_of(function):
    """Return what each node computes from the inputs, sorted: any order that fits runs alike."""
    known, found = {}, []
    for place, each in enumerate(function.maker.fgraph.inputs):
        known[each] = "input %d" % place
    for node in function.maker.fgraph.toposort():
        inner = getattr(node.op, "fn", None)
        words = [str(node.op), [known.get(each, str(each)) for each in node.inputs]]
        words += graph_of(inner) if hasattr(inner, "maker") else []
        digest = hashlib.sha256(json.dumps(words).encode("utf-8")).hexdigest()[:16]
        for place, each in enumerate(node.outputs):
            known[each] = "%s %d" % (digest, place)
        found.append("%s %s" % (node.op, digest))
    return sorted(found) + [known.get(each, str(each)) for each in function.maker.fgraph.outputs]


def functions():
    """Yield functions and what they are called with."""
    x, start = tensor.matrix("x"), tensor.vector("start")
    weights = theano.shared(0.3 * numpy.eye(3), name="weights")
    steps, _ = theano.scan(
        lambda row, last: tensor.tanh(tensor.dot(last, weights) + CONSTANT * row),
        sequences=[x],
        outputs_info=[start],
    )
    slope = tensor.grad((steps**2).sum(), weights)
    arguments = (numpy.arange(12.0).reshape(4, 3) / 12, numpy.ones(3))
    yield (
        theano.function([x, start], steps[-1], updates=[(weights, weights - 0.1 * slope)]),
        arguments,
    )
    yield theano.function([x], tensor.nnet.softmax(x + CONSTANT).max(axis=1)), arguments[:1]
    for streams in (RandomStreams, MRG_RandomStreams):
        yield theano.function([], streams(7).uniform((2, 2)) * 2), ()


def main():
    """Call each function three times, so that what it keeps between calls counts."""
    values, graphs = [], []
    for function, arguments in functions():
        values.append([numpy.asarray(function(*arguments)).tolist() for _ in range(3)])
        graphs.append(graph_of(function))
    ours = sorted(name for name in sys.modules if name.startswith("theano_stacks_"))
    cache = sys.modules.get("theano_stacks_cache")
    found = cache.found if cache else None
    sys.stdout.write(
        json.dumps({"values": values, "graphs": graphs, "found": found, "ours": ours}) + "\n"
    )


if __name__ == "__main__":
    main()
