"""The host's counterpart of each operation of a device, to compare profiles of the two."""

from __future__ import annotations

import re

HOST, DEVICE, TRANSFER = "host", "device", "transfer"
TRANSFERS = frozenset({"GpuFromHost", "HostFromGpu", "GpuToGpu"})
DEVICE_PREFIX = re.compile(r"^(Inplace)?(Gpu(Dnn)?|GPUA_)")
# Classes that are not each other's counterparts by name alone, and the name that they share.
SAME = {
    "CGemv": "Gemv",
    "CGer": "Ger",
    # The device computes it as a Gemm of an empty array.
    "Dot22Scalar": "Gemm",
    "GpuGemmBatch": "BatchedDot",
    "GpuCAReduceCPY": "reduction",
    "GpuCAReduceCuda": "reduction",
    "GpuDnnReduction": "reduction",
    "Sum": "reduction",
    "Prod": "reduction",
    "ProdWithoutZeros": "reduction",
    "CAReduce": "reduction",
    "CAReduceDtype": "reduction",
    "MaxAndArgmax": "Argmax",
    "GpuMaxAndArgmax": "Argmax",
    "ConvOp": "CorrMM",
    "GpuDnnConv": "CorrMM",
    "GpuDnnConvGradW": "CorrMM_gradWeights",
    "GpuDnnConvGradI": "CorrMM_gradInputs",
    "GpuAdvancedIncSubtensor1_dev20": "AdvancedIncSubtensor1",
}
# The parts of an op's text about the device, or about the argument that it overwrites.
DETAILS = re.compile(r"<gpuarray>|\[[(\d][^\]]*\]|\[\]|,no_inplace|\{(no_)?inplace(=True)?\}")


def place(name: str) -> str:
    """Return where an operation computes, by its class or text: HOST, DEVICE or TRANSFER."""
    if re.split(r"\W", name, maxsplit=1)[0] in TRANSFERS:
        return TRANSFER
    return DEVICE if DEVICE_PREFIX.match(name) else HOST


def counterpart(name: str, kind: str) -> str:
    """Return the name that an operation shares with its counterpart; a transfer has none.

    kind: `classes` or `ops`.
    """
    if place(name) == TRANSFER:
        return name
    if kind == "classes":
        return SAME.get(name) or DEVICE_PREFIX.sub("", name)
    return DETAILS.sub("", name.replace("Gpu", "").replace("GPUA_", ""))
