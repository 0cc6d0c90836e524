"""What amdlibm-compat is worth: beside the C library, beside its lower tier, and inside Theano.

    ./invoke build --variant openblas-amdlibm
    .venv/bin/python measurements/amdlibm.py [--framework theano-1.0.5] [--rounds 5]

All that a ratio is made of is measured turn by turn in one run. Each figure is the least of its
rounds' processor times, in ns per element: what else the machine does has the least part in it.
Takes four minutes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness import answer, environments, in_turn, options, run

TIERS = ("sse2", "avx2", "avx512")
UNARY = ("exp", "log", "log2", "log10", "sin", "cos")
LENGTHS = (1, 4, 16, 64, 1000, 100000)
# As THEANO_FLAGS takes them: Theano-PyMC has another name for the first, and takes no dots.
OFF, CXXFLAGS = "lib.amdlibm", "gcc.cxxflags"
SPELLED = {"theano-pymc-1.1.2": {OFF: "lib__amblibm", CXXFLAGS: "gcc__cxxflags"}}

# The loop that Theano has without lib.amdlibm, and the same call over and over.
LOOPS = """
#include <math.h>
#include <time.h>
#define LOOP(name, type) \\
  void loop_##name(int n, type *x, type *z) { for (int i = 0; i < n; i++) z[i] = name(x[i]); }
%s
void loop_powf(int n, float *x, float *y, float *z)
  { for (int i = 0; i < n; i++) z[i] = powf(x[i], y[i]); }
double run(void (*f)(), int n, void *x, void *z, int calls) {
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (int i = 0; i < calls; i++) ((void (*)(int, void *, void *))f)(n, x, z);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls / n;
}
double run2(void (*f)(), int n, void *x, void *y, void *z, int calls) {
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (int i = 0; i < calls; i++) ((void (*)(int, void *, void *, void *))f)(n, x, y, z);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls / n;
}
"""

# Every tier is a copy of the library that was loaded with its own setting of the variable.
ARRAYS = """
import ctypes, json, os, shutil, sys
import numpy
library, loops = sys.argv[1], ctypes.CDLL(sys.argv[2])
rounds, lengths = int(sys.argv[3]), sys.argv[4]
loops.run.restype = loops.run2.restype = ctypes.c_double
tiers, seen = {}, []
for tier in ("sse2", "avx2", "avx512"):
    os.environ["AMDLIBM_COMPAT_MAX"] = tier
    copy = sys.argv[2] + "." + tier
    shutil.copy(library, copy)
    tiers[tier] = ctypes.CDLL(copy)
    tiers[tier].amdlibm_compat_tier.restype = ctypes.c_char_p
    if tiers[tier].amdlibm_compat_tier().decode() != tier:
        del tiers[tier]
found = {}
names = [n + s for s in ("f", "") for n in ("exp", "log", "log2", "log10", "sin", "cos")] + ["powf"]
for name in names:
    single = name.endswith("f")
    dtype = "float32" if single else "float64"
    low = 0.1 if name.startswith(("log", "pow")) else -10
    for n in json.loads(lengths):
        x = numpy.random.RandomState(0).uniform(low, 10, n).astype(dtype)
        y = numpy.random.RandomState(1).uniform(-3, 3, n).astype(dtype)
        z = numpy.empty_like(x)
        px, py, pz = (ctypes.c_void_p(a.ctypes.data) for a in (x, y, z))
        functions = {"libm": getattr(loops, "loop_" + name)}
        for tier, handle in tiers.items():
            functions[tier] = getattr(handle, ("amd_vrsa_" if single else "amd_vrda_") + name)
        row = {which: [] for which in functions}
        calls = max(3, 400000 // n // (20 if n < 16 else 1))
        for _ in range(rounds + 1):
            for which, function in functions.items():
                if name == "powf":
                    row[which].append(loops.run2(function, n, px, py, pz, calls))
                else:
                    row[which].append(loops.run(function, n, px, pz, calls))
        found["%s %d" % (name, n)] = {which: samples[1:] for which, samples in row.items()}
print(json.dumps(found))
"""

THEANO = """
from __future__ import print_function
import json, sys, time
import numpy, theano, theano.tensor as T
clock = getattr(time, "process_time", None) or time.clock
found = {}
for dtype in ("float32", "float64"):
    x, y = T.matrix(dtype=dtype), T.matrix(dtype=dtype)
    graphs = [("exp", T.exp(x)), ("log", T.log(x)), ("sin", T.sin(x)), ("pow", x ** y),
              ("softmax", T.nnet.softmax(x)), ("tanh", T.tanh(x)), ("sigmoid", T.nnet.sigmoid(x)),
              ("softplus", T.nnet.softplus(x)), ("exp(x) * y + x", T.exp(x) * y + x),
              ("tanh(x + y) * sigmoid(x)", T.tanh(x + y) * T.nnet.sigmoid(x))]
    for name, graph in graphs:
        f = theano.function([x, y], theano.Out(graph, borrow=True), on_unused_input="ignore")
        f.trust_input = True
        small = ((1, 16), (1, 128), (1, 1024)) if name in ("exp", "sigmoid") else ()
        for shape in ((400, 512),) + small:
            random = numpy.random.RandomState(0)
            a, b = (random.uniform(0.1, 4, shape).astype(dtype) for _ in range(2))
            calls = 20 if a.size > 10000 else 3000
            f(a, b)
            best = None
            for _ in range(5):
                start = clock()
                for _ in range(calls):
                    f(a, b)
                taken = (clock() - start) / calls / a.size * 1e9
                best = taken if best is None else min(best, taken)
            found["%s %s %dx%d" % (name, dtype, shape[0], shape[1])] = best
print(json.dumps(found))
"""


def main() -> None:
    """Measure and print the tables."""
    parser = options(__doc__, rounds=5)
    parser.add_argument("--framework", default="theano-1.0.5")
    arguments = parser.parse_args()
    [(_, prefix)] = environments([f"{arguments.framework}/openblas-amdlibm"]).values()
    with tempfile.TemporaryDirectory() as folder:
        arrays(prefix, Path(folder), arguments.rounds)
        spelled = SPELLED.get(arguments.framework, {})
        in_theano(prefix, Path(folder), arguments.rounds, spelled)


def arrays(prefix: Path, scratch: Path, rounds: int) -> None:
    """Print ns by function, length and tier, and the ratios to libm and to the tier below."""
    macros = [f"LOOP({name}f, float) LOOP({name}, double)" for name in UNARY]
    (scratch / "loops.c").write_text(LOOPS % "\n".join(macros))
    loops = scratch / "loops.so"
    flags = ["-O2", "-fno-builtin", "-w", "-shared", "-fPIC"]
    run([prefix / "bin/gcc", *flags, scratch / "loops.c", "-o", loops, "-lm"])
    library = prefix / "lib/libamdlibm.so"
    python = prefix / "bin/python"
    words = [python, "-c", ARRAYS, library, loops, rounds, json.dumps(LENGTHS)]
    found: dict[str, dict[str, list[float]]] = answer(words)
    print("function length  libm |" + "".join(f" {t}: ns, to libm, to below |" for t in TIERS))
    for name, samples in found.items():
        ns = {which: min(each) for which, each in samples.items()}
        line, below = f"{name:<14} {ns['libm']:6.2f} |", ns["libm"]
        for tier in (tier for tier in TIERS if tier in ns):
            line += f" {ns[tier]:6.2f} {ns['libm'] / ns[tier]:5.2f}x {below / ns[tier]:5.2f}x |"
            below = ns[tier]
        print(line, flush=True)


def in_theano(prefix: Path, scratch: Path, rounds: int, spelled: Mapping[str, str]) -> None:
    """Print ns by graph with lib.amdlibm, with it but for the fused loops, and without it."""
    settings = {
        "off": f"{spelled.get(OFF, OFF)}=False",
        "arrays": f"{spelled.get(CXXFLAGS, CXXFLAGS)}=-DAMDLIBM_COMPAT_NO_SIMD",
        "on": "",
    }

    def ns_by_graph(name: str) -> dict[str, float]:
        flags = ",".join(filter(None, [settings[name], f"base_compiledir={scratch / name}"]))
        found: dict[str, float] = answer([prefix / "bin/python", "-c", THEANO], THEANO_FLAGS=flags)
        return found

    samples = in_turn(rounds, settings, ns_by_graph)
    print(f"{'Theano':<42} {'off':>7} {'arrays':>8} {'on':>7}")
    for graph in samples["on"][0]:
        ns = {name: min(each[graph] for each in found) for name, found in samples.items()}
        line = f"{graph:<42} {ns['off']:7.2f} {ns['arrays']:8.2f} {ns['on']:7.2f}"
        print(f"{line}   {ns['off'] / ns['on']:5.2f}x", flush=True)


if __name__ == "__main__":
    main()
