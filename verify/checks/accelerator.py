"""Is the environment's accelerator in force: stored graphs, small gradients of scans?"""

from __future__ import absolute_import, division, print_function

import os
import sys
import warnings

from verify.core import fixes, progress
from verify.core.report import failed, passed

NAME = "accelerator"
PACKAGE = "theano-stacks"
VARIABLE = "THEANO_STACKS_QUICK"
STATES = 3
# Nodes in the step of the gradient below; Theano 0.8.2 and 1.0.5 as they are have 126.
NODES = 66


def is_expected(context):
    """Return whether the builder says that the environment has it."""
    return PACKAGE in (context.expectation or {}).get("accelerator", ())


def check(context):
    """Check that the accelerator acts: on a gradient, and on a second compilation."""
    if os.environ.get(VARIABLE) == "0":
        return failed(NAME, "%s=0 leaves Theano as it is" % VARIABLE, "unset %s" % VARIABLE)
    fix = fixes.repair_fix(context.expectation)
    names = ["compiler", "ops", "scan", "cache"]
    if context.framework.version.startswith("0.8."):
        names.append("replaced")
    missing = [name for name in names if "theano_stacks_" + name not in sys.modules]
    if missing:
        text = ", ".join("theano_stacks_" + name for name in missing)
        return failed(NAME, "not in force: " + text, fix)
    if "replaced" in names and not _keeps_replaced_scans_out():
        return failed(NAME, "replaced scans may come back into the graph", fix)
    if not _has_c_code():
        return failed(NAME, "indexing by arrays has no C code", fix)
    progress.note("a gradient of a scan, and a function compiled twice")
    nodes = _gradient_nodes(context.framework)
    if nodes > NODES:
        detail = "the gradient of a scan has %d nodes instead of %d" % (nodes, NODES)
        return failed(NAME, detail, fix)
    return _stored(context.framework, nodes, fix)


def _keeps_replaced_scans_out():
    from theano.gof.toolbox import ReplaceValidate

    return ReplaceValidate.replace_all_validate.__module__ == "theano_stacks_replaced"


def _has_c_code():
    from theano.tensor.subtensor import AdvancedSubtensor

    return AdvancedSubtensor.c_code.__module__ == "theano_stacks_ops"


def _gradient_nodes(framework):
    """Return the number of nodes in a step of a scan's gradient."""
    theano, tensor = framework.module, framework.tensor
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

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs, _ = theano.scan(step, outputs_info=starts, non_sequences=weights, n_steps=2)
        slopes = tensor.grad(sum(output.sum() for output in outputs), weights)
    scans = [n for n in io_toposort(weights + starts, slopes) if type(n.op).__name__ == "Scan"]
    return len(io_toposort(scans[-1].op.inputs, scans[-1].op.outputs))


def _stored(framework, nodes, fix):
    import theano_stacks_cache

    hits = theano_stacks_cache.found["hits"]
    values = []
    for _ in range(2):
        x = framework.variable("vector", "float64", "x")
        function = framework.function([x], 3 * x + 4 * x, profile=False, linker="py")
        values.append(function([0.0, 1.0, 2.0]).tolist())
    if values != [[0.0, 7.0, 14.0]] * 2:
        detail = "wrong numbers from a stored graph: %s, then %s" % tuple(values)
        return failed(NAME, detail, fix)
    if theano_stacks_cache.found["hits"] == hits:
        detail = "a graph was not found again when it was compiled a second time"
        return failed(NAME, detail, fix)
    detail = "graphs are stored; the gradient of a scan has %d nodes" % nodes
    return passed(NAME, detail)
