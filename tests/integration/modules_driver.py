# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: PTH118, PTH123
"""Compile functions, print what they compute, each module's bytes, and which of them were shared.

Runs on Python 2.7 too.
"""

import hashlib
import json
import os
import sys

import numpy
import theano
import theano_stacks_modules
from theano import tensor


def modules():
    """Return {name: hash} of the modules in the compile folder, and the names of those of BLAS."""
    found, blas = {}, []
    for folder, _, names in os.walk(str(theano.config.compiledir)):
        if "key.pkl" not in names:
            continue
        for name in names:
            if name.endswith(".so"):
                found[name] = hashlib.sha256(content(folder, name)).hexdigest()
                blas += [name] if b"gemm_(" in content(folder, "mod.cpp") else []
            elif not name.startswith(("__init__.py", "key.pkl", "mod.cpp")):
                found[name] = "should not be there"
    return found, blas


def content(folder, name):
    """Return the bytes of a file."""
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def main():
    """Compile, call, print."""
    x, weights = tensor.matrix("x"), theano.shared(0.3 * numpy.eye(3), name="weights")
    y = tensor.dot(x, weights) + 0.1 * weights
    outputs = [tensor.tanh(y) * 2 + x, tensor.nnet.softmax(x).sum(axis=0), tensor.dot(x, x)]
    function = theano.function([x], outputs, updates=[(weights, 0.5 * weights + tensor.dot(x, x))])
    values = [numpy.asarray(each).tolist() for each in function(numpy.ones((3, 3)))]
    found, blas = modules()
    message = {
        "values": values,
        "modules": found,
        "blas": blas,
        "found": theano_stacks_modules.found,
    }
    sys.stdout.write(json.dumps(message) + "\n")


main()
