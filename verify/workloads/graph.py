"""What a compiled graph consists of, and a name for it that depends on nothing else."""

from __future__ import absolute_import, division, print_function

import collections
import hashlib
import re

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]{6,}")


def describe(function):
    """Return {signature, nodes, scans} of a compiled function.

    Two functions of one signature have the same operations, as often, their scans' inner graphs
    included; addresses, the order of execution and the names of variables do not enter.
    """
    return of_graph(graph_of(function))


def of_graph(fgraph):
    """Return the same of a graph."""
    counts, scans = collections.Counter(), []
    for node in fgraph.toposort():
        name = op_name(node.op)
        inner = inner_function(node)
        if inner is not None:
            found = describe(inner)
            scans.append({"name": name, "signature": found["signature"], "nodes": found["nodes"]})
            name += " of " + found["signature"]
        counts[name] += 1
    lines = ["%d %s" % (counts[name], name) for name in sorted(counts)]
    digest = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()
    return {
        "signature": digest[:12],
        "nodes": sum(counts.values()),
        "scans": sorted(scans, key=lambda scan: (scan["name"], scan["signature"])),
    }


def graph_of(function):
    """Return the graph of a compiled function."""
    return function.maker.fgraph


def op_name(op):
    """Return an op as text, without the addresses that differ from run to run."""
    text = ADDRESS.sub("", str(op))
    inside = getattr(getattr(op, "scalar_op", None), "fgraph", None)
    if "{...}" not in text or inside is None:
        return text
    # PyTensor leaves out what it has fused: two ops of one name may have nothing in common.
    counts = collections.Counter(type(node.op).__name__ for node in inside.apply_nodes)
    parts = ", ".join("%d %s" % (counts[name], name) for name in sorted(counts))
    return text.replace("{...}", "{%s}" % parts)


def inner_function(node):
    """Return the compiled function of a scan node's steps, or None of any other node."""
    if type(node.op).__name__ != "Scan":
        return None
    # PyTensor compiles to C when it is asked for `fn`, which under numba no one ever runs.
    own = vars(node.op)
    function = own.get("_fn", own.get("fn"))
    return function if hasattr(function, "maker") else None


def machine_of(function):
    """Return the virtual machine that runs a compiled function."""
    return function.vm if hasattr(function, "vm") else function.fn


def functions_in(function):
    """Return a compiled function and those of its scans, at any depth."""
    found = [function]
    for node in graph_of(function).toposort():
        inner = inner_function(node)
        if inner is not None:
            found += functions_in(inner)
    return found
