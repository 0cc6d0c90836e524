# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: B905, RUF005
"""Compile random scans with their gradients; print their values and graphs. Runs on Python 2.7 too.

Arguments: the first seed and the number of seeds. A seed is a program: states with one or two taps,
sequences, weights, some of them used in several steps' expressions, in either direction.
"""

import json
import sys

import numpy
import theano
from first_step_driver import graph_of
from theano import tensor

SIZE = 3


def expression(random, terms, weights):
    """Return a random matrix made of the terms."""
    picked = [terms[random.randint(len(terms))] for _ in range(random.randint(2, 5))]
    value = picked[0]
    for each in picked[1:]:
        kind = random.randint(7)
        if kind == 0:
            value = value * tensor.tanh(each)
        elif kind == 1:
            value = tensor.dot(value, weights[random.randint(len(weights))]) + each
        elif kind == 2:
            value = value + tensor.nnet.softmax(each)
        elif kind == 3:
            value = tensor.concatenate([value[:, :1], each[:, 1:]], axis=1)
        elif kind == 4:
            value = value - each.sum(axis=0, keepdims=True)
        elif kind == 5:
            value = tensor.nnet.sigmoid(value) * each.dimshuffle(1, 0)
        else:
            value = tensor.set_subtensor(value[0], each[1])
    return tensor.tanh(value)


def function(seed):
    """Return the function of a seed and its arguments."""
    random = numpy.random.RandomState(seed)

    def shared():
        return theano.shared(random.uniform(-0.5, 0.5, (SIZE, SIZE)))

    weights = [shared() for _ in range(random.randint(1, 4))]
    sequences = [tensor.tensor3() for _ in range(random.randint(0, 3))]
    taps = [[-1] if random.randint(3) else [-2, -1] for _ in range(random.randint(1, 5))]
    steps = random.randint(2, 5)

    def step(*arguments):
        # The number of terms is fixed by the seed, and so is what is made of them.
        inner = numpy.random.RandomState(seed + 1)
        return [expression(inner, list(arguments), weights) for _ in taps]

    starts = [
        {"initial": theano.shared(random.uniform(-1, 1, (len(each), SIZE, SIZE))), "taps": each}
        if len(each) > 1
        else shared()
        for each in taps
    ]
    outputs, updates = theano.scan(
        step,
        sequences=sequences,
        outputs_info=starts,
        n_steps=steps,
        go_backwards=bool(random.randint(2)),
    )
    outputs = outputs if isinstance(outputs, list) else [outputs]
    cost = sum((each[-1] ** 2).sum() + each.mean() for each in outputs)
    slopes = tensor.grad(cost, weights, disconnected_inputs="ignore")
    changes = [(each, each - 0.1 * slope) for each, slope in zip(weights, slopes)]
    arguments = [random.uniform(-1, 1, (steps, SIZE, SIZE)) for _ in sequences]
    return (
        theano.function(
            sequences,
            [cost] + slopes,
            updates=list(updates.items()) + changes,
            on_unused_input="ignore",
        ),
        arguments,
    )


def main(first, count):
    """Call each function twice: the second call sees the updated weights."""
    results = []
    for seed in range(first, first + count):
        compiled, arguments = function(seed)
        values = [[numpy.asarray(v).tolist() for v in compiled(*arguments)] for _ in range(2)]
        results.append({"values": values, "graph": graph_of(compiled)})
    cache = sys.modules.get("theano_stacks_cache")
    found = {"results": results, "found": cache.found if cache else None}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
