# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: PTH100
"""Compile functions that something outside of their graphs decides; print what they compute.

Argument: a number that decides. The text of the program is the same for each, so a cache that looks
at the graph alone takes the graph of another number. Prints {what decides: [values, how many graphs
were taken from the cache]}. Runs on Python 2.7 too.
"""

import functools
import json
import os
import sys

import numpy
import theano
from theano import gof, tensor
from theano.compile.ops import as_op
from theano.tensor import elemwise
from theano.tensor import opt as tensor_opt

NUMBER = float(sys.argv[1])
OF_MODULE = 1.0
X = tensor.dvector("x")


class Times(gof.Op):
    """Multiply by a number that comes from the module, an attribute, or the class."""

    factor = 1.0

    def make_node(self, x):
        return gof.Apply(self, [tensor.as_tensor_variable(x)], [tensor.dvector()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * self.factor * getattr(self, "fn", 1.0) * OF_MODULE

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(type(self))


class Model:
    """What an operation calls, and a program changes after it has compiled the function."""

    factor = 1.0

    def times(self, x):
        return x * self.factor


class Calls(gof.Op):
    """Call a method of an object."""

    itypes, otypes, __props__ = [tensor.dvector], [tensor.dvector], ("method",)

    def __init__(self, method):
        self.method = method

    def perform(self, node, inputs, outputs):
        outputs[0][0] = self.method(inputs[0])


MODEL = Model()


def of_module():
    global OF_MODULE
    OF_MODULE = NUMBER
    return Times()(X)


def of_closure():
    number = NUMBER
    return as_op(itypes=[tensor.dvector], otypes=[tensor.dvector])(lambda x: x * number)(X)


def of_class():
    global OF_MODULE
    OF_MODULE, Times.factor = 1.0, NUMBER
    return Times()(X)


def of_attribute():
    """Return an operation with an attribute that Theano's equality knows."""
    Times.factor, times = 1.0, Times()
    times.fn = NUMBER
    return times(X)


def of_file():
    """Return a product with a constant of a file, which the optimiser would read once."""
    numpy.save("numbers.npy", numpy.ones(3) * NUMBER)
    return X * tensor.load(os.path.abspath("numbers.npy"), "float64", (False,))


def of_optimisation():
    """Return what a registered optimisation replaces."""
    pattern = gof.opt.PatternSub((tensor.sin, "x"), (tensor.mul, "x", NUMBER))
    tensor_opt.register_canonicalize(pattern, name="of_the_program")
    return tensor.sin(X)


def of_patch():
    """Return a sum whose constant the optimiser computes, by a patched method."""
    perform = elemwise.Elemwise.perform

    def patched(self, node, inputs, outputs):
        perform(self, node, inputs, outputs)
        outputs[0][0] = outputs[0][0] * NUMBER

    elemwise.Elemwise.perform = patched
    return X + tensor.exp(tensor.constant(0.0))


# The last two change what is made after them.
OUTPUTS = (
    ("module", of_module),
    ("closure", of_closure),
    ("class", of_class),
    ("attribute", of_attribute),
    ("object", lambda: Calls(MODEL.times)(X)),
    ("partial", lambda: Calls(functools.partial(numpy.multiply, NUMBER))(X)),
    ("file", of_file),
    ("optimisation", of_optimisation),
    ("patch", of_patch),
)


def main():
    """Compile and call each function."""
    cache, found = sys.modules["theano_stacks_cache"], {}
    for name, output in OUTPUTS:
        before, MODEL.factor = cache.found["hits"], 1.0
        function = theano.function([X], output())
        MODEL.factor = NUMBER
        values = function(numpy.arange(3.0)).tolist()
        found[name] = [values, cache.found["hits"] - before]
    sys.stdout.write(json.dumps(found) + "\n")


main()
