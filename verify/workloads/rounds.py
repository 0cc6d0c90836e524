"""What a round of the bench is, and the program that times its kernels in an environment.

`./invoke bench` takes its turns by these definitions from outside an environment, the program
`bench` of an image from inside: so their figures are of the same things.

Arguments of the program: the framework's module, workloads with commas, and optionally `quick` for
few sizes and samples. It prints a JSON object. Compiled modules stay in the environment's folder.
"""

from __future__ import absolute_import, division, print_function

import json

from verify.core import framework as frameworks
from verify.core.portable import monotonic

# One process times some of these together.
KERNELS = ("gemm", "elementwise")
# The programs of this folder, each with one or more cases.
PROGRAMS = (
    "ntm",
    "gibbs",
    "scan_gc",
    "scan_outside",
    "lstm",
    "logreg",
    "mlp",
    "lenet",
    "check_blas",
)
# What an image times by default.
OF_IMAGES = KERNELS + ("check_blas",)
# The frameworks compute these on one thread only.
ON_ONE_THREAD = ("elementwise",)
# Each BLAS library reads one of these.
THREAD_VARIABLES = tuple(
    name + "_NUM_THREADS" for name in ("OPENBLAS", "GOTO", "MKL", "BLIS", "OMP", "NUMBA")
)
# Prefixes of variables that choose kernels and threads of the BLAS libraries.
LIBRARY_VARIABLES = ("OPENBLAS_", "GOTO_", "BLIS_", "THEANO_STACKS_BLIS_", "MKL_") + (
    "OMP_",
    "GOMP_",
    "KMP_",
    "AMDLIBM_",
)
# With it each start compiles the Python files that it imports, some of them in its first step.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# Nine of them bear one outlier: see stacks/bench/intervals.py.
ROUNDS, QUICK_ROUNDS = 11, 9
CALLS, QUICK_CALLS = 100, 20
# Of programs whose calls take seconds, or less than a millisecond: then a round of fewer is shorter
# than the time that the system gives to another program at once.
FEW_OR_MANY_CALLS = {"check_blas": 10, "mlp": 300}
# A slow library takes 7 s for a product of 5000 x 5000; lstm's calls 50 ms.
QUICK_FEW_OR_MANY_CALLS = dict(FEW_OR_MANY_CALLS, check_blas=1, lstm=10)
QUICK_CASES = {"lstm": "merged"}
# Seconds that a process may take to answer: ntm compiles for ten minutes on a quiet machine.
LIMIT = 3600
# Modules that a start with a warm cache may compile: some operations have no key in it.
FEW_MODULES = 3
# Significant digits of a sample; clocks have no more.
DIGITS = 6
KERNEL_SAMPLES = 5
QUICK_KERNEL_SAMPLES = 3
GEMM_SIZES = (500, 1000, 2000, 4000)
QUICK_GEMM_SIZES = (2000,)
# Those of the table of all environments.
QUICK_FUNCTIONS = ("exp", "tanh")
# Seconds. Samples are at least this long, so that the clock and a call's overhead do not count.
LEAST_SECONDS = 0.02
# The ending of a series' name that PyTensor's numba linker compiled.
NUMBA = ", numba"


def endings(module, version, workload):
    """Return the endings of a workload's series: "", and NUMBA where that is the default linker.

    gemm times the product of check_blas with it already.
    """
    is_default = module == "pytensor" and int(version.split(".")[0]) >= 3
    return ("", NUMBA) if is_default and workload != "check_blas" else ("",)


def calls_of(workload, quick):
    """Return the number of calls of a program in each round."""
    exceptions = QUICK_FEW_OR_MANY_CALLS if quick else FEW_OR_MANY_CALLS
    return exceptions.get(workload, QUICK_CALLS if quick else CALLS)


def program_words(workload, ending, quick):
    """Return a program's name and its options, without that of the number of timed calls."""
    words = [workload]
    if quick and workload in QUICK_CASES:
        words += ["--case", QUICK_CASES[workload]]
    if ending == NUMBA:
        words += ["--linker", "numba"]
    # A function that may be profiled is another one, and the results so far are of such. A product
    # has no parts, and takes seconds.
    return words + ["--profile-calls", "0" if workload == "check_blas" else "1"]


def kernel_words(module, workloads, quick):
    """Return the arguments of the program `bench-probe`; workloads: with commas."""
    return [module, workloads] + (["quick"] if quick else [])


def variables(inherited, module, threads, flags=""):
    """Return the variables of a turn's process: none of the user's settings changes the figures.

    inherited: {name: value}; module: the framework's; flags: for THEANO_FLAGS or its descendant's.
    """
    env = {n: v for n, v in inherited.items() if not n.startswith(LIBRARY_VARIABLES)}
    env.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    env.update({module.upper() + "_FLAGS": flags, module.upper() + "RC": "", NO_BYTECODE: ""})
    return env


def rounded(samples):
    """Return samples with DIGITS significant digits, which keeps files small."""
    return [float("%.*g" % (DIGITS, sample)) for sample in samples]


def series(workload, ending, case, seconds, compile_counts):
    """Return the series of a case's calls, as a result has it.

    case: as a workload's report has it; seconds: of each call. compile_counts: whether the
    compilation counts whatever it compiled; else only with its C modules found in the cache.
    """
    compilation = case["compile"]
    counts = compile_counts or compilation["modules"] <= FEW_MODULES
    return {
        "name": series_name(workload, ending, case["name"]),
        "unit": "s",
        "samples": rounded(seconds),
        "graph": case["graph"]["signature"],
        "compile": rounded([compilation["seconds"]])[0] if counts else None,
    }


def series_name(workload, ending, case):
    """Return the name of the series of a workload's case."""
    return (workload if case == workload else "%s %s" % (workload, case)) + ending


def gemm(framework, quick):
    """Time C = 0.4 C + 0.8 A B, the product that the frameworks' check_blas.py times."""
    if framework.on_device:
        return _gemm_on_device(quick)
    import numpy

    from verify.blas.speed import GemmUpdate, gemm_rate

    random = numpy.random.RandomState(0)
    modes = {"": None}
    if framework.runs_numba:
        modes[", numba"] = "NUMBA"
    series = []
    for dtype in ("float64", "float32"):
        for label in sorted(modes):
            update = GemmUpdate(framework, dtype, modes[label])
            for size in QUICK_GEMM_SIZES if quick else GEMM_SIZES:
                for variable in update.matrices:
                    variable.set_value(random.rand(size, size).astype(dtype), borrow=True)
                rates = [gemm_rate(size, seconds) for seconds in _seconds(update.run, quick)]
                series.append(
                    _kernel_series("Gemm %s %d%s" % (dtype, size, label), "GFLOP/s", rates)
                )
    return series


def _gemm_on_device(quick):
    """Return the series of Theano, and those of the device's BLAS alone."""
    from verify.device import speed as device_speed

    series = []
    sizes = device_speed.QUICK_SIZES if quick else device_speed.ALL_SIZES
    for one in device_speed.products(sizes):
        name = "%(dtype)s %(size)d" % one
        series.append(_kernel_series("Gemm " + name, "GFLOP/s", one["theano"]))
        series.append(_kernel_series("BLAS alone " + name, "GFLOP/s", one["alone"]))
    return series


def elementwise(framework, quick):
    """Time exp, log, tanh, sigmoid and softmax, in nanoseconds per element; quick: two of them."""
    import numpy

    from verify.elementwise import loops

    series = []
    shapes = loops.SHAPES[:1] if quick else loops.SHAPES
    for dtype in ("float32",) if quick else ("float32", "float64"):
        for name in QUICK_FUNCTIONS if quick else loops.FUNCTIONS:
            function = loops.compiled(framework, name, dtype)
            for shape in shapes:
                values = numpy.random.RandomState(0).uniform(0.1, 4, shape).astype(dtype)
                times = _seconds(lambda f=function, v=values: f(v), quick)
                label = "%s %s %s" % (name, dtype, loops.SHAPE_NAMES[shape])
                series.append(_kernel_series(label, "ns", [1e9 * t / values.size for t in times]))
    return series


KERNEL_WORKLOADS = {"gemm": gemm, "elementwise": elementwise}


def _seconds(call, quick):
    """Return samples of the seconds of a call, after a first call."""
    call()
    start = monotonic()
    call()
    seconds = monotonic() - start
    calls = max(1, int(LEAST_SECONDS / max(seconds, 1e-9)))
    count = QUICK_KERNEL_SAMPLES if quick else KERNEL_SAMPLES
    samples = [seconds] if calls == 1 else []
    while len(samples) < count:
        start = monotonic()
        for _ in range(calls):
            call()
        samples.append((monotonic() - start) / calls)
    return samples


def _kernel_series(name, unit, samples):
    return {"name": name, "unit": unit, "samples": samples}


def main(argv):
    """Print the series of the workloads."""
    framework = frameworks.load(argv[0])
    series = []
    for name in argv[1].split(","):
        series += KERNEL_WORKLOADS[name](framework, argv[2:] == ["quick"])
    print(json.dumps({"series": series}))
