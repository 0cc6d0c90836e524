"""Where the nodes of a compiled graph run: on the device, on the host, or between the two."""

from __future__ import absolute_import, division, print_function

import collections

# device, host: {name of an op: count}; host has only nodes that compute on float arrays.
# to_device, from_device: transfers.
Places = collections.namedtuple("Places", "device host to_device from_device")

TO_DEVICE, FROM_DEVICE = ("GpuFromHost", "GpuToGpu"), ("HostFromGpu",)
# These put no number anywhere: they look at shapes, or make a view.
FREE = ("Shape_i", "Shape", "Rebroadcast", "Assert", "DeepCopyOp", "ViewOp")


def places(nodes):
    """Return the Places of nodes, those inside of a scan with them."""
    found = Places(collections.Counter(), collections.Counter(), [], [])
    _count(nodes, found)
    return Places(
        dict(found.device), dict(found.host), len(found.to_device), len(found.from_device)
    )


def _count(nodes, found):
    for node in nodes:
        kind = type(node.op).__name__
        if kind in TO_DEVICE:
            found.to_device.append(kind)
        elif kind in FROM_DEVICE:
            found.from_device.append(kind)
        elif is_on_device(node):
            found.device[name_of(node.op)] += 1
        elif computes(node):
            found.host[name_of(node.op)] += 1
        inner = getattr(getattr(node.op, "fn", None), "maker", None)
        if kind == "Scan" and inner is not None:
            _count(inner.fgraph.toposort(), found)


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
    """Return an op's class, with its function where the class is one for many."""
    kind = type(op).__name__
    scalar = getattr(op, "scalar_op", None)
    if kind in ("CAReduce", "Elemwise") and scalar is not None:
        return "%s of %s" % (kind, getattr(scalar, "name", None) or type(scalar).__name__)
    return kind
