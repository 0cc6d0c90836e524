"""Time starts on a GPU, and show what a program meets where the GPU is not as expected.

    PREFIX/bin/python measurements/cuda.py

PREFIX: an environment of gpuarray-cuda on a machine with a GPU; needs nothing else, and no network.
The program is a training step of 784-500-10 in float32. Prints the seconds of its starts with and
without each cache; then each case with its last lines and its exit status; then the GPU's memory in
use, which must be what it was at the beginning.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIMIT = 300
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
OPEN = "import theano; print('opened', theano.config.device)"
LOOP = (
    START
    + """
print("looping", flush=True)
while 1: step(numpy.zeros((20, 784), "f"), numpy.zeros(20, "i"))
"""
)
# Three arrays of 40 % of the free memory each, of which two fit.
MEMORY = """
import numpy, pygpu, theano
context = theano.gpuarray.get_context(None)
size = int(context.free_gmem * 0.4)
held = [pygpu.empty((size,), dtype="int8", context=context) for _ in range(2)]
n = theano.tensor.lscalar()
new = theano.gpuarray.basic_ops.GpuAllocEmpty("int8", None)(n)
try:
    theano.function([n], new[:1])(size)
except Exception as error:
    raise SystemExit("%s: %s" % (type(error).__name__, "; ".join(str(error).splitlines()[:2])))
"""
HOLD = """
import pygpu, time
context = pygpu.init("cuda")
held = pygpu.empty((context.free_gmem - (400 << 20),), dtype="int8", context=context)
print("holding", flush=True); time.sleep(600)
"""
# A library in front of the driver's, which it needs under another name.
OLDER = "int cuDriverGetVersion(int *version) { *version = 12020; return 0; }"


def main() -> None:
    """Print the starts, the cases and the memory."""
    before = used()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts(folder)
        cases(folder)
    print(f"\nmemory of the GPU in use: {before} at the beginning, {used()} at the end")


def starts(folder: Path) -> None:
    """Print the seconds of starts, of which each finds more than the one before, or less."""
    flags = f"base_compiledir={folder}/compiled"
    driver = {"CUDA_CACHE_PATH": f"{folder}/driver"}
    print("seconds: import, compile, first call, all")
    for title, own, variables in (
        ("nothing compiled", "", driver),
        ("second start", "", driver),
        ("third start", "", driver),
        ("no kernels of libgpuarray", f",gpuarray.cache_path={folder}/none", driver),
        ("no cache of the driver", "", {"CUDA_CACHE_PATH": f"{folder}/none"}),
        ("THEANO_STACKS_QUICK=0", "", {**driver, "THEANO_STACKS_QUICK": "0"}),
    ):
        done = python(START, THEANO_FLAGS=flags + own, **variables)
        print(f"  {title:<26} {last(done, 1)}")


def cases(folder: Path) -> None:
    """Print what a program meets: the device there, taken away, old, full, used by two."""
    show("the device is there", python(OPEN))
    show("CUDA_VISIBLE_DEVICES=", python(OPEN, CUDA_VISIBLE_DEVICES=""))
    show("device=cuda7", python(OPEN, THEANO_FLAGS="device=cuda7"))
    show("a driver for CUDA 12.2", probe(LD_LIBRARY_PATH=str(older_driver(folder))))
    show("more memory than there is", python(MEMORY))
    with running(HOLD, "holding"):
        show("another program holds the memory", probe())
    with running(LOOP, "looping"):
        show("beside another program", python(START))
    print("\nkilled half-way: memory in use", used())


def older_driver(folder: Path) -> Path:
    """Return a folder with a libcuda.so.1 that is the machine's, but for the version it tells."""
    target = folder / "older"
    target.mkdir()
    gcc = Path(sys.prefix, "bin/gcc")
    listed = subprocess.check_output(["ldconfig", "-p"], text=True).splitlines()
    real = next(line.split()[-1] for line in listed if "libcuda.so.1 " in line)
    (target / "libcuda-real.so.1").write_bytes(Path(real).read_bytes())
    (folder / "empty.c").write_text("")
    (folder / "older.c").write_text(OLDER)
    # Its name is that of the copy, which has the name of the driver's library inside.
    stub = folder / "stub.so"
    flags = ["-shared", "-Wl,-soname,libcuda-real.so.1"]
    subprocess.check_call([gcc, *flags, folder / "empty.c", "-o", stub])
    flags = ["-shared", "-fPIC", "-Wl,--no-as-needed"]
    library = target / "libcuda.so.1"
    subprocess.check_call([gcc, *flags, folder / "older.c", stub, "-o", library])
    return target


@contextmanager
def running(code: str, word: str) -> Iterator[None]:
    """Run a program beside a block, from a word that it prints on, and kill it at the end."""
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout
        if not any(word in line for line in iter(program.stdout.readline, "")):
            raise SystemExit(f"it ended before it was {word}")
        yield
    finally:
        program.kill()
        program.wait()
        # The driver takes the memory back a moment later.
        time.sleep(2)


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in the environment."""
    return call([sys.executable, "-c", code], variables)


def probe(**variables: str) -> subprocess.CompletedProcess[str]:
    """Ask the suite whether the device can be opened."""
    suite = Path(__file__).resolve().parent.parent / "verify"
    return call([sys.executable, str(suite), "device-probe", "cuda"], variables)


def call(words: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program and return its end, with all that it printed as its output."""
    return subprocess.run(
        words,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def show(title: str, done: subprocess.CompletedProcess[str]) -> None:
    """Print a case."""
    print(f"\n{title}: status {done.returncode}\n  {last(done, 3)}")


def last(done: subprocess.CompletedProcess[str], count: int) -> str:
    """Return the last lines of a program's output."""
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return "\n  ".join(lines[-count:])


def used() -> str:
    """Return the memory in use on the first GPU, as nvidia-smi says it."""
    words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"]
    return subprocess.check_output(words, text=True).splitlines()[0]


if __name__ == "__main__":
    main()
