# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: UP004, UP031
"""Print what the gradient of a scan of six states consists of. Runs on Python 2.7 too.

Arguments: how many objects to make first, so that addresses differ, and `fixed` or `as it is`.
"""

import hashlib
import sys

import numpy

try:
    import theano
    from theano.gof.graph import io_toposort
except ImportError:
    import pytensor as theano
    import pytensor.tensor
    from pytensor.graph.traversal import io_toposort

if sys.argv[2] == "fixed":
    import theano_stacks_scan  # noqa: F401

STATES = 6


def inner_nodes(scan):
    """Return the nodes of a scan's step in order."""
    if hasattr(scan, "inner_inputs"):
        return io_toposort(scan.inner_inputs, scan.inner_outputs)
    return io_toposort(scan.inputs, scan.outputs)


class Unrelated(object):
    """Takes as much memory as a variable's own record."""


def main(count):
    """Build, print the digest of the gradient's inner graph, the number of its nodes, a value."""
    unrelated = [Unrelated() for _ in range(count)]
    weights = [theano.shared(0.1 * (n + 1) * numpy.eye(3), name="w%d" % n) for n in range(STATES)]

    def step(*states):
        tensor = theano.tensor
        return [
            tensor.tanh(
                sum(tensor.dot(states[(n + m) % STATES], weights[m]) for m in range(STATES))
            )
            for n in range(STATES)
        ]

    starts = [theano.shared(numpy.ones((2, 3))) for _ in range(STATES)]
    outputs, _ = theano.scan(step, outputs_info=starts, n_steps=4)
    gradients = theano.tensor.grad(sum(output.sum() for output in outputs), weights)
    scan = [n for n in io_toposort([], gradients) if "Scan" in str(type(n.op))][-1]
    nodes = inner_nodes(scan.op)
    places = {}
    for place, node in enumerate(nodes):
        places.update((output, place) for output in node.outputs)
    lines = ["%s %s" % (n.op, [places.get(i, "-") for i in n.inputs]) for n in nodes]
    digest = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:12]
    value = theano.function([], gradients[0])()
    sys.stdout.write("%s %d %.12e %d\n" % (digest, len(nodes), value.sum(), len(unrelated)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
