"""Count the nodes of a compiled graph that run on the device, on the host, or transfer data."""

from __future__ import absolute_import, division, print_function

import collections

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
    for node in nodes:
        inner = getattr(getattr(node.op, "fn", None), "maker", None)
        if type(node.op).__name__ == "Scan" and inner is not None:
            result += _with_scans(inner.fgraph.toposort())
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
