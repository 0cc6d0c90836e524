"""Describe a compiled graph, with a signature that depends on its operations alone."""

from __future__ import absolute_import, division, print_function

import collections
import hashlib
import re

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]{6,}")


def describe(function):
    """Return {signature, nodes, scans} of a compiled function.

    Functions with the same signature have the same number of each operation, also inside scans.
    Addresses, the order of execution and the names of variables do not count.
    """
    return of_graph(graph_of(function))


def of_graph(fgraph):
    """Return {signature, nodes, scans} of a graph."""
    counts, scans = collections.Counter(), []
    for node in fgraph.toposort():
        name = op_name(node.op)
        inner = inner_function(node)
        if inner is not None:
            content = describe(inner)
            signature = content["signature"]
            scans.append({"name": name, "signature": signature, "nodes": content["nodes"]})
            name += " of " + signature
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
    # PyTensor omits the parts of a fused op, so that different ops would have the same name.
    counts = collections.Counter(type(node.op).__name__ for node in inside.apply_nodes)
    parts = ", ".join("%d %s" % (counts[name], name) for name in sorted(counts))
    return text.replace("{...}", "{%s}" % parts)


def inner_function(node):
    """Return the compiled function of a scan node's steps, or None of any other node."""
    if type(node.op).__name__ != "Scan":
        return None
    # PyTensor's property `fn` would compile it to C, which is never run with numba.
    attributes = vars(node.op)
    function = attributes.get("_fn", attributes.get("fn"))
    return function if hasattr(function, "maker") else None


def machine_of(function):
    """Return the virtual machine that runs a compiled function."""
    return function.vm if hasattr(function, "vm") else function.fn


def functions_in(function):
    """Return a compiled function and those of its scans, at any depth."""
    functions = [function]
    for node in graph_of(function).toposort():
        inner = inner_function(node)
        if inner is not None:
            functions += functions_in(inner)
    return functions
