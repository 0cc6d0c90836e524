from __future__ import annotations

import pytest

from stacks.profiles import counterparts


@pytest.mark.parametrize(
    ("kind", "host", "device"),
    [
        ("classes", "Elemwise", "GpuElemwise"),
        ("classes", "CGemv", "GpuGemv"),
        ("classes", "Sum", "GpuCAReduceCPY"),
        ("classes", "ConvOp", "GpuCorrMM"),
        ("classes", "Softmax", "GpuDnnSoftmax"),
        ("classes", "DimShuffle", "GpuDimShuffle"),
        ("ops", "Gemm{inplace}", "GpuGemm{inplace=True}"),
        ("ops", "InplaceDimShuffle{1,0}", "InplaceGpuDimShuffle{1,0}"),
        (
            "ops",
            "Elemwise{Composite{tanh((i0 + i1))}}[(0, 0)]",
            "GpuElemwise{Composite{tanh((i0 + i1))}}[(0, 1)]<gpuarray>",
        ),
        ("ops", "IncSubtensor{InplaceInc;int64}", "GpuIncSubtensor{InplaceInc;int64}"),
    ],
)
def test_counterparts(kind: str, host: str, device: str) -> None:
    assert counterparts.counterpart(host, kind) == counterparts.counterpart(device, kind)
    assert (counterparts.place(host), counterparts.place(device)) == ("host", "device")


@pytest.mark.parametrize("name", ["GpuFromHost", "GpuFromHost<None>", "HostFromGpu(gpuarray)"])
def test_a_transfer_is_a_row_of_its_own(name: str) -> None:
    assert counterparts.place(name) == "transfer"
    assert counterparts.counterpart(name, "ops") == name
