"""NVIDIA's driver, which is a stand-in: its GPUs, and what is too old or too new for them.

OpenCL's loader, and drivers that do not answer, are tried in tests/integration/test_device.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from unit.helpers.suite import suite_module

check = suite_module("device.check")
drivers = suite_module("device.drivers")

ATTRIBUTES = {
    drivers.CLOCK_KHZ: 1_980_000,
    drivers.PROCESSORS: 132,
    drivers.MAJOR: 9,
    drivers.MINOR: 0,
}
# CUDA's functions that write a number to their first argument.
NUMBERS = {"cuDriverGetVersion": "version", "cuDeviceGetCount": "count"}


class Library:
    """NVIDIA's driver with one H100, nvrtc 12.4 and cuBLAS 12.4.5 in one."""

    def __init__(self, **more: Any) -> None:
        self.values: dict[str, Any] = {"status": 0, "count": 1, "version": 12040, "archs": (90,)}
        self.values |= more

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.call(name, *given)

    def call(self, name: str, *given: Any) -> int:
        """Do as the function of this name."""
        if name == "cuInit":
            return int(self.values["status"])
        if name in NUMBERS:
            given[0]._obj.value = self.values[NUMBERS[name]]
        elif name == "cuDeviceGetName":
            given[0].value = b"NVIDIA H100"
        elif name == "cuDeviceGetAttribute":
            given[0]._obj.value = ATTRIBUTES[given[1]]
        elif name == "cuDeviceGetByPCIBusId":
            given[0]._obj.value = 1
            return 0 if given[1] == b"0000:00:06.0" else 1
        elif name == "nvrtcVersion":
            given[0]._obj.value, given[1]._obj.value = 12, 4
        elif name == "nvrtcGetNumSupportedArchs":
            given[0]._obj.value = len(self.values["archs"])
        elif name == "nvrtcGetSupportedArchs":
            given[0][:] = self.values["archs"]
        elif name == "cublasGetProperty":
            given[1]._obj.value = (12, 4, 5)[given[0]]
        return 0


def load(monkeypatch: pytest.MonkeyPatch, library: Library, only: str = "lib") -> None:
    """Have a library stand for those whose names begin so; no others are there."""

    def loaded(name: str) -> Library:
        if not name.startswith(only):
            raise OSError(name)
        return library

    monkeypatch.setattr(drivers.ctypes, "CDLL", loaded)
    monkeypatch.setattr(drivers, "text_of", lambda path: "NVRM: Kernel Module  550.54.15  Tue")


@pytest.mark.parametrize(
    "line",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (root)",
    ],
)
def test_a_cuda_device_with_its_nominal_peaks(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(monkeypatch, Library())
    monkeypatch.setattr(drivers, "text_of", lambda path: line)
    device = check.find("cuda")
    assert device.name == "NVIDIA H100, compute capability 9.0"
    assert device.driver == "CUDA 12.4, driver 550.54.15, nvrtc 12.4, cuBLAS 12.4.5"
    assert (device.where, device.is_cpu) == ("cuda0", False)
    assert device.peaks["float32"] == pytest.approx(2 * 1.98 * 132 * 128)
    # NVIDIA's own figure of an H100 SXM is 67 TFLOP/s, with the tensor cores.
    assert device.peaks["float64"] == pytest.approx(67e3, rel=0.01)
    # In an environment that is only diagnosed there is no compiler.
    load(monkeypatch, Library(), only="libcuda")
    assert check.find("cuda").driver == "CUDA 12.4, driver 550.54.15"


OLD = r"too old: it is for CUDA 12.3, driver 550.* nvrtc 12.4 compiles"


@pytest.mark.parametrize(
    ("library", "visible", "message", "fix"),
    [
        (Library(status=100), None, "answers 100", "install NVIDIA's driver"),
        (Library(count=0), None, "no GPU", "install NVIDIA's driver"),
        (Library(status=100), "", "CUDA_VISIBLE_DEVICES= hides", "unset CUDA_VISIBLE_DEVICES"),
        (Library(version=12030), None, OLD, "install a driver for CUDA 12.4 or newer"),
        (Library(archs=(50, 80)), None, r"H100.* takes compute capability 5.0 to 8.0", "use a GPU"),
        (Library(archs=(100, 120)), None, r"takes compute capability 10.0 to 9.9", "use a GPU of"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_an_error(
    library: Library, visible: str | None, message: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(monkeypatch, library)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(drivers.NoDeviceError, match=message) as caught:
        check.find("cuda")
    assert caught.value.fix.startswith(fix)


def test_a_gpu_by_its_number_and_by_its_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with a compiler of its own does not need what this environment's can do."""
    load(monkeypatch, Library(version=12000, archs=(50,)))
    assert drivers.cuda_device(0).driver == "CUDA 12.0, driver 550.54.15"
    with pytest.raises(drivers.NoDeviceError, match="no device cuda1"):
        drivers.cuda_device(1)
    assert drivers.cuda_number_at("0000:00:06.0") == 1
    with pytest.raises(drivers.NoDeviceError, match=r"no GPU at 0000:00:07\.0"):
        drivers.cuda_number_at("0000:00:07.0")
