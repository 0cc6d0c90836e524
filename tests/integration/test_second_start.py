"""The second start of a program, in another process: it compiles nothing, on edited Theanos."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.test_first_step import run

# A step of a classifier; prints how many modules were compiled, and two losses.
CLASSIFIER = """
import json
import numpy as np
import theano
import theano.tensor as T
try:
    from theano.gof import cmodule
except ImportError:
    from theano.link.c import cmodule

compiled = []
original = cmodule.GCC_compiler.compile_str
def compile_str(*positional, **named):
    compiled.append(positional)
    return original(*positional, **named)
cmodule.GCC_compiler.compile_str = staticmethod(compile_str)

x, y = T.matrix(), T.ivector()
weights, bias = theano.shared(np.full((4, 3), 0.1)), theano.shared(np.array([0.1, 0.2, 0.3]))
chances = T.nnet.softmax(T.dot(x, weights) + bias)
loss = -T.mean(T.log(chances)[T.arange(y.shape[0]), y])
updates = [(each, each - 0.1 * T.grad(loss, each)) for each in (weights, bias)]
step = theano.function([x, y], loss, updates=updates)
inputs = np.arange(8.0).reshape(2, 4), np.array([0, 2], "int32")
print(json.dumps([len(compiled), [float(step(*inputs)) for _ in range(2)]]))
"""


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-pymc-1.1.2"])
def test_compiles_nothing(
    prefix: Callable[[str, str], Path], tmp_path: Path, framework: str
) -> None:
    place, sizes = prefix(framework, "openblas"), []
    starts = []
    for seed in ("1", "2"):
        variables = {"PYTHONHASHSEED": seed, "THEANO_STACKS_QUICK": "0"}
        done = run(place, tmp_path, "-c", CLASSIFIER, flags="floatX=float64", **variables)
        starts.append(json.loads(done.stdout.splitlines()[-1]))
        sizes.append({path: path.stat().st_size for path in tmp_path.rglob("key.pkl")})
    (first, values), (second, same) = starts
    assert first > 5 and second == 0
    assert same == values
    # Nor does it add keys to the modules that are there.
    assert sizes[0] == sizes[1]
