# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: RUF005, UP031
"""Split, read and add by arrays of integers; print results, errors, and what ran as C code.

Runs on Python 2.7 too.
"""

import hashlib
import json
import sys

import numpy
import theano
from theano import tensor

MODE = theano.Mode(linker="cvm", optimizer=None)
FLOATS = ("float32", "float64")
ROWS = [[0, 2, 1], [-1, -3, 0], [1, 1, 1], [], [3, 0, 0], [-4, 0, 0], [0, 1]]


def array(dtype, *shape):
    """Return an array of numbers whose sums depend on their order."""
    return (1 / numpy.arange(3.0, 3 + numpy.prod(shape))).astype(dtype).reshape(shape)


def layouts(x):
    """Yield an array of equal shape and numbers in several layouts."""
    yield x
    yield numpy.asfortranarray(x)
    yield numpy.repeat(x, 2, axis=-1)[..., ::2]
    yield x[::-1]
    yield numpy.broadcast_to(x[:1], x.shape)


def splits():
    """Yield (name, function, calls) of splits."""
    x, axis = tensor.fmatrix(), tensor.lscalar()
    for kind in ("int64", "int8"):
        sizes = tensor.vector(dtype=kind)
        parts = tensor.Split(3)(x, axis, sizes)
        calls = [
            (each, where, numpy.array(numbers).astype(kind))
            for each in list(layouts(array("float32", 6, 6))) + [array("float32", 6, 0)]
            for where in (0, 1, -1, 2, -3)
            for numbers in ([1, 2, 3], [0, 6, 0], [1, 2, 4], [7, -1, 0], [3, 3])
        ]
        yield "split by " + kind, theano.function([x, axis, sizes], parts, mode=MODE), calls


def indices(kind="int64"):
    """Return {description: ([indices], [variables in them], [their numbers])} for (3, 3, 4)."""
    i, j, square = tensor.vector(dtype=kind), tensor.vector(dtype=kind), tensor.matrix(dtype=kind)
    rows = [numpy.array(each, kind) for each in ROWS]
    one = [(each,) for each in rows]
    two = [(each, other) for each in rows for other in rows[:4]]
    return {
        "i": ([i], [i], one),
        "i, j": ([i, j], [i, j], two),
        "i, 1, :": ([i, 1, slice(None)], [i], one),
        ":, i, 1:-1": ([slice(None), i, slice(1, -1)], [i], one),
        "i, ::-1, j": ([i, slice(None, None, -1), j], [i, j], two),
        "None, square": ([None, square], [square], [(numpy.array([[0, 1], [-2, 1]], kind),)]),
    }


def reads():
    """Yield (name, function, calls) of reading."""
    x = tensor.dtensor3()
    values = list(layouts(array("float64", 3, 3, 4))) + [array("float64", 0, 3, 4)]
    for kind, names in (("int64", list(indices())), ("int8", ["i, j"])):
        for name in names:
            key, variables, numbers = indices(kind)[name]
            read = theano.function(
                [x] + variables, tensor.subtensor.advanced_subtensor(x, *key), mode=MODE
            )
            calls = [(each,) + index for each in values for index in numbers]
            yield "read %s of %s" % (kind, name), read, calls


def writes():
    """Yield (name, function, calls) of adding and setting."""
    add, put = tensor.subtensor.advanced_inc_subtensor, tensor.subtensor.advanced_set_subtensor
    plans = [(add, dtype, dtype, name) for dtype in FLOATS for name in indices()]
    plans += [(add, "float64", "float32", "i"), (add, "int32", "int32", "i")]
    plans += [(put, "float32", "float64", name) for name in ("i", "i, 1, :")]
    for write, of_x, of_y, name in plans:
        key, variables, numbers = indices()[name]
        x, y = tensor.tensor3(dtype=of_x), tensor.matrix(dtype=of_y)
        index = tensor.subtensor.advanced_subtensor(x, *key).owner.inputs[1:]
        function = theano.function([x, y] + variables, write(x, y, *index), mode=MODE)
        calls = [
            (each, array(of_y, *shape)) + where
            for each in layouts(array(of_x, 3, 3, 4))
            for shape in ((3, 4), (3, 3), (3, 2), (1, 1))
            for where in numbers
        ]
        yield "%s %s %s %s" % (write, of_x, of_y, name), function, calls


def outcome(function, arguments):
    """Return the results' layout and a hash of their bytes, or the error."""
    try:
        results = function(*arguments)
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0]]
    results = results if isinstance(results, list) else [results]
    return [
        [each.shape, each.strides, hashlib.sha256(each.tobytes()).hexdigest()] for each in results
    ]


def main():
    """Call each function with all its arguments, so that a call finds the last one's outputs."""
    outcomes, in_c = {}, {}
    for make in (splits, reads, writes):
        for name, function, calls in make():
            outcomes[name] = [outcome(function, each) for each in calls]
            in_c[name] = hasattr(function.fn.thunks[-1], "cthunk")
    sys.stdout.write(json.dumps({"outcomes": outcomes, "in_c": in_c}) + "\n")


if __name__ == "__main__":
    main()
