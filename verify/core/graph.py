"""Describe a compiled function: the signature of its graph, where nodes run, its memory."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import hashlib
import re

# Relative: theano_stacks_program.py imports this module by another name of the package.
from .machine import read_text

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]{6,}")
STATUS, CLEAR = "/proc/self/status", "/proc/self/clear_refs"
# proc(5): resets the peak of the resident set.
RESET_PEAK = "5\n"


def describe(function):
    """Return {signature, nodes, scans} of a compiled function.

    Functions with the same signature have the same number of each operation, also inside scans.
    Addresses, the order of execution and the names of variables do not count.
    """
    return of_graph(function.maker.fgraph)


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
    nodes = _with_scans(function.maker.fgraph.toposort())
    return [function] + [inner for inner in map(inner_function, nodes) if inner is not None]


def peak_of_call(call):
    """Return the bytes that a call takes beyond what the process holds before it.

    None if the system does not let a process reset its peak.
    """
    # What an earlier call has freed may still belong to the process.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        with open(CLEAR, "w") as file:
            file.write(RESET_PEAK)
    except EnvironmentError:
        return None
    before = resident("VmRSS")
    call()
    return max(0, resident("VmHWM") - before)


def resident(name):
    """Return a size in /proc/self/status, in bytes."""
    return 1024 * int(re.search(r"(?m)^%s:\s*(\d+)" % name, read_text(STATUS)).group(1))


def kept_bytes(function):
    """Return the bytes of results that a function and its scans keep between calls.

    Arrays that share memory count once; inputs, shared variables and constants do not.
    """
    results, given = {}, set()
    for each in functions_in(function):
        for variable, cell in getattr(machine_of(each), "storage_map", {}).items():
            array = cell[0]
            # The owner of its memory.
            while getattr(array, "base", None) is not None:
                array = array.base
            if variable.owner is None:
                given.add(id(array))
            else:
                results[id(array)] = getattr(array, "nbytes", 0)
    return sum(size for key, size in results.items() if key not in given)


# device, host: {name of an op: count}, on the host only of nodes that compute with float arrays;
# to_device, from_device: number of transfers.
NodePlaces = collections.namedtuple("NodePlaces", "device host to_device from_device")

TO_DEVICE, FROM_DEVICE = ("GpuFromHost", "GpuToGpu"), ("HostFromGpu",)
# These compute nothing: they read shapes or make views.
FREE = ("Shape_i", "Shape", "Rebroadcast", "Assert", "DeepCopyOp", "ViewOp")


def places(nodes):
    """Return the NodePlaces of nodes and of those inside their scans."""
    device, host, transfers = (collections.Counter() for _ in range(3))
    for node in _with_scans(nodes):
        kind = type(node.op).__name__
        if kind in TO_DEVICE + FROM_DEVICE:
            transfers[kind in TO_DEVICE] += 1
        elif is_on_device(node):
            device[name_of(node.op)] += 1
        elif computes(node):
            host[name_of(node.op)] += 1
    return NodePlaces(dict(device), dict(host), transfers[True], transfers[False])


def _with_scans(nodes):
    result = list(nodes)
    for inner in map(inner_function, nodes):
        if inner is not None:
            result += _with_scans(inner.maker.fgraph.toposort())
    return result


def is_on_device(node):
    """Say whether a node's result is an array of the device."""
    return any(type(variable.type).__name__ == "GpuArrayType" for variable in node.outputs)


def computes(node):
    """Say whether a node computes with arrays of floats."""
    if type(node.op).__name__ in FREE:
        return False
    return any(
        getattr(variable.type, "ndim", 0) > 0
        and str(getattr(variable.type, "dtype", "")).startswith("float")
        for variable in node.inputs + node.outputs
    )


def name_of(op):
    """Return the class of an op, for CAReduce and Elemwise with the scalar function."""
    kind = type(op).__name__
    scalar = getattr(op, "scalar_op", None)
    if kind in ("CAReduce", "Elemwise") and scalar is not None:
        return "%s of %s" % (kind, getattr(scalar, "name", None) or type(scalar).__name__)
    return kind
