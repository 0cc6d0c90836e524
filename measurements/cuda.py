"""Time starts on a GPU, with and without each cache.

    PREFIX/bin/python measurements/cuda.py

PREFIX: an environment of gpuarray-cuda on a machine with a GPU; needs nothing else, and no network.
The program is a training step of 784-500-10 in float32.
"""

from __future__ import annotations

import sys
import tempfile

from harness import options, run

START = """
import time; begin = time.time()
import numpy, theano, theano.tensor as T
imported = time.time()
random = numpy.random.RandomState(0)
x, y = T.fmatrix(), T.ivector()
shapes = (784, 500), (500,), (500, 10), (10,)
w, b, v, c = p = [theano.shared(random.uniform(-0.1, 0.1, s).astype("float32")) for s in shapes]
guess = T.nnet.softmax(T.tanh(x.dot(w) + b).dot(v) + c)
loss = T.nnet.categorical_crossentropy(guess, y).mean()
updates = [(a, a - numpy.float32(0.1) * g) for a, g in zip(p, T.grad(loss, p))]
step = theano.function([x, y], loss, updates=updates)
compiled = time.time()
step(random.rand(20, 784).astype("float32"), numpy.arange(20, dtype="int32") % 10)
now = time.time()
print("%.2f %.2f %.2f %.2f" % (imported - begin, compiled - imported, now - compiled, now - begin))
"""


def main() -> None:
    """Print the seconds of starts, each of which finds more than the one before, or less."""
    options(__doc__).parse_args()
    print("seconds: import, compile, first call, all")
    with tempfile.TemporaryDirectory() as folder:
        flags = f"base_compiledir={folder}/compiled"
        driver = {"CUDA_CACHE_PATH": f"{folder}/driver"}
        for title, more, variables in (
            ("nothing compiled", "", driver),
            ("second start", "", driver),
            ("third start", "", driver),
            ("no kernels of libgpuarray", f",gpuarray.cache_path={folder}/none", driver),
            ("no cache of the driver", "", {"CUDA_CACHE_PATH": f"{folder}/none"}),
            ("THEANO_STACKS_QUICK=0", "", {**driver, "THEANO_STACKS_QUICK": "0"}),
        ):
            output = run(
                [sys.executable, "-c", START], None, THEANO_FLAGS=flags + more, **variables
            )
            print(f"  {title:<26} {output.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
