"""Faults of the framework itself, named instead of their consequences; is its accelerator in force?

The accelerator is what the environment adds: stored graphs, small gradients of scans.
"""

from __future__ import absolute_import, division, print_function

import importlib
import inspect
import os
import sys

from verify.core import fixes, progress
from verify.core.fixes import undo_fix
from verify.core.report import failed, passed, skipped

NAME = "known faults"
# Module: (the framework's name, the version in which the fault was seen).
AMDLIBM = {"pytensor": ("PyTensor", "3.3.7")}
# Theano-PyMC 1.1.2 is the module `theano`, too.
THEANO, AESARA = "theano-0.8.2 theano-1.0.5 theano-1.1.2", " aesara-2.8.7"
OLD, PYTENSOR = " pytensor-2.38.3", " pytensor-2.38.3 pytensor-3.3.7"
# Wrong numbers without an error, which no setting undoes: {fault: (what to do instead, the versions
# that have it)}. All were tried on CPU in the environments of the versions that are named, and in
# those of PyTensor 2.38.3 and 3.3.7; the gradients of `until` on Aesara 2.9.3 and PyTensor 3.3.8,
# too. Of other versions nothing is known.
UNTIL = "the gradient of a scan that ends by `until` is wrong"
WRONG_RESULTS = {
    # Theano's issue 5439, PyTensor's pull request 2217.
    UNTIL: (
        "give the scan its number of steps, and mask what comes after the end",
        THEANO + AESARA + " aesara-2.9.3" + OLD,
    ),
    # PyTensor's issue 1772 has the third one, which Theano and Aesara refuse.
    "second derivatives of a scan are wrong, unless the cost is linear in its outputs": (
        "write the loop of a fixed number of steps in Python",
        THEANO + AESARA + OLD,
    ),
    # Their _gemm_from_factored_list leaves out what it cannot cast. PyTensor's pull request 2276.
    "in C, a sum of three terms or more, of which one is a product of matrices, loses s * x, where "
    "s is a number of float64 and x an array of float32": (
        "cast the array: x.astype('float64')",
        THEANO + AESARA + PYTENSOR,
    ),
    # Aesara's issue 1089. The others refuse to compute the value.
    "the gradient of an array of length 1 that is broadcast at run time is not summed": (
        "give its type a length of 1: aesara.tensor.shape.specify_broadcastable(x, axis)",
        AESARA,
    ),
    # PyTensor's pull request 484.
    "prod(s * x, axis=...) of a scalar s raises s to the number of all elements": (
        "write s ** x.shape[axis] * prod(x, axis=axis)",
        THEANO + AESARA,
    ),
    # Theano's pull request 56, PyTensor's issue 1262. BLAS prints "had an illegal value".
    "a product in C with an array of numpy.broadcast_to, which has strides of 0, is wrong": (
        "give a copy of it: numpy.ascontiguousarray",
        THEANO + AESARA + PYTENSOR,
    ),
    # PyTensor's issue 1444.
    "psi and tri_gamma in C are 0 for negative numbers": (
        "write psi(1 - x) - pi / tan(pi * x) and (pi / sin(pi * x)) ** 2 - tri_gamma(1 - x)",
        THEANO + AESARA,
    ),
    "tri_gamma in C is 0 for negative numbers": (
        "write (pi / sin(pi * x)) ** 2 - tri_gamma(1 - x)",
        PYTENSOR,
    ),
    "set_subtensor(x[i], y)[i] is y, also where i has a number twice": (
        "make i without repetitions first",
        THEANO + AESARA + PYTENSOR,
    ),
    # Theano's issue 5919.
    "inc_subtensor(zeros[i], y)[i] is y, also where i has a number twice": (
        "make i without repetitions first",
        "theano-0.8.2",
    ),
    # PyTensor's pull request 1922.
    "sqrt(x ** 2) is NaN for negative x, and sqrt(x) ** 2 is abs(x)": (
        "write abs(x), and switch(x >= 0, x, nan)",
        OLD,
    ),
    # PyTensor's issue 2308.
    "cauchy(loc, scale) in numba draws (loc + z) / scale": (
        "write loc + scale * cauchy(0, 1)",
        OLD,
    ),
    # Theano's issue 4595.
    "x[x > 2] is x[0] and x[1]: a comparison is no mask": (
        "write x[(x > 2).nonzero()]",
        "theano-0.8.2",
    ),
    # Theano's issue 3060.
    "max pooling in C drops a NaN that is not the first number of its window": (
        "test the input by isnan",
        THEANO + AESARA,
    ),
    # PyTensor's issue 1497.
    "log(c + x) is log1p(x) for a constant c within 1e-5 of 1": (
        "give c as an input of the function",
        THEANO + AESARA,
    ),
    "sigmoid in C is 1 above 19, where it is up to 5.6e-9 less": (
        "write sigmoid(-x) for 1 - sigmoid(x)",
        "theano-0.8.2 theano-1.0.5",
    ),
    "x - x, x / x and eq(x, x) are 0, 1 and true, also for NaN and infinities": (
        "test x by isnan and isinf first",
        THEANO + AESARA + PYTENSOR,
    ),
    "argmin of signed integers is wrong where the smallest number of their type is among them": (
        "cast them to float64",
        THEANO + AESARA + PYTENSOR,
    ),
    "int64 and uint64 are compared in C as unsigned numbers: -1 is more than 1": (
        "cast both to float64",
        THEANO + AESARA + PYTENSOR,
    ),
    # PyTensor's issue 1026.
    "In(x, mutable=True) of a row of y changes the input y of another rank": (
        "give it a copy: x.copy()",
        THEANO + AESARA + PYTENSOR,
    ),
}


def check(context):
    """Check that no flag is set which breaks this framework; name its wrong results."""
    framework = context.framework
    lines = [
        "%s: %s" % (fault, instead)
        for fault, (instead, versions) in sorted(WRONG_RESULTS.items())
        if "%s-%s" % (framework.name, framework.version) in versions.split()
        and not (fault == UNTIL and until_is_corrected(framework.name))
    ]
    fix = fixes.policy_fix(context)
    if fix:
        fault = (
            "with cast_policy=numpy+floatX, sums of float32 with products of matrices lose terms"
        )
        return failed(NAME, fault, fix)
    if framework.name in AMDLIBM:
        flag = framework.spelled(framework.amdlibm_flag)
        name, version = AMDLIBM[framework.name]
        words = (name, flag, version)
        fault = "%s cannot compile exp, log and sin with %s=True (seen in %s)" % words
        if framework.flag(framework.amdlibm_flag):
            return failed(NAME, fault, undo_fix(context, framework.amdlibm_flag))
        lines.insert(0, "%s is off: %s" % (flag, fault))
    if len(lines) > 1:
        lines.insert(0, "%d of this version, and what to do instead" % len(lines))
    return passed(NAME, "\n".join(lines)) if lines else skipped(NAME, "none of this version")


def until_is_corrected(module):
    """Return whether the scan that is loaded has the correction of this project's recipes."""
    for name in (module + ".scan_module.scan_op", module + ".scan.op"):
        if name in sys.modules:
            try:
                return "n_steps = grad_steps" in inspect.getsource(sys.modules[name])
            except (OSError, IOError):  # it has bytecode alone
                return False
    return False


ACCELERATOR = "accelerator"
ACCELERATOR_PACKAGE = "theano-stacks"
QUICK_VARIABLE = "THEANO_STACKS_QUICK"
STATES = 3
# Nodes in the step of the gradient below; Theano 0.8.2 and 1.0.5 as they are have 126.
NODES = 66


def has_accelerator(context):
    """Return whether the builder says that the environment has it."""
    return ACCELERATOR_PACKAGE in (context.expectation or {}).get("accelerator", ())


def check_accelerator(context):
    """Check that the accelerator acts: on a gradient, and on a second compilation."""
    if os.environ.get(QUICK_VARIABLE) == "0":
        return failed(
            ACCELERATOR, "%s=0 leaves Theano as it is" % QUICK_VARIABLE, "unset %s" % QUICK_VARIABLE
        )
    nodes = []
    fault = next(_faults(context.framework, nodes), None)
    if fault:
        # What keeps functions from being compiled has its own fix.
        uncompiled = [each.fix for each in context.operations.values() if each.fix]
        fix = (uncompiled or [fixes.repair_of(context)])[0]
        return failed(ACCELERATOR, fault, fix)
    detail = "graphs are stored; the gradient of a scan has %d nodes" % nodes[0]
    return passed(ACCELERATOR, detail)


def _faults(framework, nodes):
    """Yield what does not act, what others need first; append a gradient's nodes to a list."""
    parts, replaced = ["compiler", "ops", "scan", "cache"], framework.version.startswith("0.8.")
    parts = ["theano_stacks_" + part for part in parts + ["replaced"] * replaced]
    missing = [part for part in parts if part not in sys.modules]
    if missing:
        yield "not in force: " + ", ".join(missing)
    toolbox = importlib.import_module("theano.gof.toolbox") if replaced else None
    replace = toolbox and toolbox.ReplaceValidate.replace_all_validate
    if replace and replace.__module__ != "theano_stacks_replaced":
        yield "replaced scans may come back into the graph"
    subtensor = importlib.import_module("theano.tensor.subtensor").AdvancedSubtensor
    if subtensor.c_code.__module__ != "theano_stacks_ops":
        yield "indexing by arrays has no C code"
    progress.note("a gradient of a scan, and a function compiled twice")
    nodes.append(_gradient_nodes(framework))
    if nodes[0] > NODES:
        yield "the gradient of a scan has %d nodes instead of %d" % (nodes[0], NODES)
    found = sys.modules["theano_stacks_cache"].found
    hits, values = found["hits"], []
    for _ in range(2):
        x = framework.variable("vector", "float64", "x")
        function = framework.function([x], 3 * x + 4 * x, profile=False, linker="py")
        values.append(function([0.0, 1.0, 2.0]).tolist())
    if values != [[0.0, 7.0, 14.0]] * 2:
        yield "wrong numbers from a stored graph: %s, then %s" % tuple(values)
    if found["hits"] == hits:
        yield "a graph was not found again when it was compiled a second time"


def _gradient_nodes(framework):
    """Return the number of nodes in a step of a scan's gradient."""
    tensor = framework.tensor
    from theano.gof.graph import io_toposort

    weights = [framework.variable("matrix", "float64", "w") for _ in range(STATES)]
    starts = [framework.variable("matrix", "float64", "s") for _ in range(STATES)]

    def step(*states):
        states = states[:STATES]
        return [
            tensor.tanh(
                sum(tensor.dot(states[(n + m) % STATES], weights[m]) for m in range(STATES))
            )
            for n in range(STATES)
        ]

    outputs, _ = framework.scan(step, outputs_info=starts, non_sequences=weights, n_steps=2)
    slopes = tensor.grad(sum(output.sum() for output in outputs), weights)
    scans = [n for n in io_toposort(weights + starts, slopes) if type(n.op).__name__ == "Scan"]
    return len(io_toposort(scans[-1].op.inputs, scans[-1].op.outputs))
