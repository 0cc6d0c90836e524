# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: PTH100
"""Compile a function that something outside of its graph decides, and print what it computes.

Arguments: what decides, and which of two values it has. The text of the program is the same in
both cases, so a cache that looks at the graph alone takes the graph of the other. Runs on Python
2.7 too.
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

KIND, NUMBER = sys.argv[1], float(sys.argv[2])


class Times(gof.Op):
    """Multiply by a number that comes from the module, an attribute, or the class."""

    factor = 1.0

    def make_node(self, x):
        """Return the node."""
        return gof.Apply(self, [tensor.as_tensor_variable(x)], [tensor.dvector()])

    def perform(self, node, inputs, outputs):
        """Compute."""
        outputs[0][0] = inputs[0] * self.factor * getattr(self, "fn", 1.0) * OF_MODULE

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(type(self))


class Model:
    """What an operation calls, and a program changes after it has compiled the function."""

    factor = 1.0

    def times(self, x):
        """Multiply."""
        return x * self.factor


class Calls(gof.Op):
    """Call a method of an object."""

    itypes, otypes, __props__ = [tensor.dvector], [tensor.dvector], ("method",)

    def __init__(self, method):
        self.method = method

    def perform(self, node, inputs, outputs):
        """Compute."""
        outputs[0][0] = self.method(inputs[0])


MODEL = Model()
OF_MODULE = NUMBER if KIND == "module" else 1.0
X = tensor.dvector("x")


def of_closure(number):
    """Return an operation that remembers a number."""

    @as_op(itypes=[tensor.dvector], otypes=[tensor.dvector])
    def times(x):
        return x * number

    return times


def output():
    """Return the symbolic result."""
    if KIND == "closure":
        return of_closure(NUMBER)(X)
    if KIND == "object":
        return Calls(MODEL.times)(X)
    if KIND == "partial":
        return Calls(functools.partial(numpy.multiply, NUMBER))(X)
    if KIND == "class":
        Times.factor = NUMBER
    times = Times()
    if KIND == "attribute":
        times.fn = NUMBER
    if KIND == "constant":
        return X * NUMBER
    if KIND == "file":
        numpy.save("numbers.npy", numpy.ones(3) * NUMBER)
        path = os.path.abspath("numbers.npy")
        return X * tensor.load(path, "float64", (False,))
    if KIND == "optimisation":
        pattern = gof.opt.PatternSub((tensor.sin, "x"), (tensor.mul, "x", NUMBER))
        tensor_opt.register_canonicalize(pattern, name="of_the_program")
        return tensor.sin(X)
    if KIND == "patch":
        perform = elemwise.Elemwise.perform

        def patched(self, node, inputs, outputs):
            perform(self, node, inputs, outputs)
            outputs[0][0] = outputs[0][0] * NUMBER

        elemwise.Elemwise.perform = patched
        # The optimiser computes the constant.
        return X + tensor.exp(tensor.constant(0.0))
    return times(X)


def main():
    """Print the values and the operations of the graph."""
    function = theano.function([X], output())
    MODEL.factor = NUMBER
    found = sys.modules["theano_stacks_cache"].found if "theano_stacks_cache" in sys.modules else {}
    message = {
        "values": numpy.asarray(function(numpy.arange(3.0))).tolist(),
        "nodes": [str(node.op) for node in function.maker.fgraph.toposort()],
        "found": found,
    }
    sys.stdout.write(json.dumps(message) + "\n")


main()
