"""What amdlibm-compat is worth in Theano: beside the C library, with and without fused loops.

    ./invoke build --variant openblas-amdlibm
    .venv/bin/python measurements/amdlibm.py [--framework theano-1.0.5] [--rounds 5]

All that a ratio is made of is measured turn by turn in one run. Each figure is the least of its
rounds' processor times, in ns per element: what else the machine does has the least part in it.
Takes three minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness import answer, environments, in_turn, options

# As THEANO_FLAGS takes them: Theano-PyMC has another name for the first, and takes no dots.
OFF, CXXFLAGS = "lib.amdlibm", "gcc.cxxflags"
SPELLED = {"theano-pymc-1.1.2": {OFF: "lib__amblibm", CXXFLAGS: "gcc__cxxflags"}}

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
        spelled = SPELLED.get(arguments.framework, {})
        in_theano(prefix, Path(folder), arguments.rounds, spelled)


def in_theano(prefix: Path, tmp: Path, rounds: int, spelled: Mapping[str, str]) -> None:
    """Print ns by graph with lib.amdlibm, with it but for the fused loops, and without it."""
    settings = {
        "off": f"{spelled.get(OFF, OFF)}=False",
        "arrays": f"{spelled.get(CXXFLAGS, CXXFLAGS)}=-DAMDLIBM_COMPAT_NO_SIMD",
        "on": "",
    }

    def ns_by_graph(name: str) -> dict[str, float]:
        flags = ",".join(filter(None, [settings[name], f"base_compiledir={tmp / name}"]))
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
