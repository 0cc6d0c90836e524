"""Which operation of a device is which one of the host: for profiles of the two, side by side."""

from __future__ import annotations

import re

HOST, DEVICE, BETWEEN = "host", "device", "transfer"
TRANSFERS = frozenset({"GpuFromHost", "HostFromGpu", "GpuToGpu"})
DEVICES_OWN = re.compile(r"^(Inplace)?(Gpu(Dnn)?|GPUA_)")
# Where the host's class is not the device's without its Gpu; on the right one that stands for all.
SAME = {
    "CGemv": "Gemv",
    "CGer": "Ger",
    # The device computes it as a Gemm of an array that holds nothing yet.
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
# What an op's text has of the device, or of which argument it overwrites.
DETAILS = re.compile(r"<gpuarray>|\[[(\d][^\]]*\]|\[\]|,no_inplace|\{(no_)?inplace(=True)?\}")


def place(name: str) -> str:
    """Return where an operation of that class, or of that text, computes."""
    if re.split(r"\W", name, maxsplit=1)[0] in TRANSFERS:
        return BETWEEN
    return DEVICE if DEVICES_OWN.match(name) else HOST


def counterpart(name: str, kind: str) -> str:
    """Return the name that an operation shares with its counterpart.

    `kind` is `classes` or `ops`. Transfers have none, and keep theirs.
    """
    if place(name) == BETWEEN:
        return name
    if kind == "classes":
        return SAME.get(name) or DEVICES_OWN.sub("", name)
    return DETAILS.sub("", name.replace("Gpu", "").replace("GPUA_", ""))
