"""The devices of the drivers, and what is too old or too new for them."""

from __future__ import annotations

import ctypes
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


OLD = r"too old: it is for CUDA 12.3, driver 550.* nvrtc 12.4 compiles"


class Library:
    """NVIDIA's driver with one H100, nvrtc 12.4 and cuBLAS 12.4.5 in one."""

    def __init__(
        self, status: int = 0, count: int = 1, version: int = 12040, archs: tuple[int, ...] = (90,)
    ) -> None:
        self.status, self.count, self.version, self.archs = status, count, version, archs

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return self.status

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = self.count
        return 0

    def cuDeviceGet(self, identity: Any, number: int) -> int:  # noqa: N802
        return 0

    def cuDeviceGetName(self, name: Any, size: int, identity: Any) -> int:  # noqa: N802
        name.value = b"NVIDIA H100"
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, identity: Any) -> int:  # noqa: N802
        value._obj.value = ATTRIBUTES[attribute]
        return 0

    def cuDeviceGetByPCIBusId(self, device: Any, bus: bytes) -> int:  # noqa: N802
        device._obj.value = 1
        return 0 if bus == b"0000:00:06.0" else 1

    def nvrtcVersion(self, major: Any, minor: Any) -> None:  # noqa: N802
        major._obj.value, minor._obj.value = 12, 4

    def nvrtcGetNumSupportedArchs(self, count: Any) -> None:  # noqa: N802
        count._obj.value = len(self.archs)

    def nvrtcGetSupportedArchs(self, numbers: Any) -> None:  # noqa: N802
        numbers[:] = self.archs

    def cublasGetProperty(self, part: int, value: Any) -> None:  # noqa: N802
        value._obj.value = (12, 4, 5)[part]


def load(monkeypatch: pytest.MonkeyPatch, library: Library) -> None:
    monkeypatch.setattr(drivers.ctypes, "CDLL", lambda name: library)
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


def test_a_driver_without_the_environments_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an environment that is only diagnosed."""

    def only_the_driver(name: str) -> Library:
        if name != "libcuda.so.1":
            raise OSError(name)
        return Library()

    load(monkeypatch, Library())
    monkeypatch.setattr(drivers.ctypes, "CDLL", only_the_driver)
    assert check.find("cuda").driver == "CUDA 12.4, driver 550.54.15"


def test_the_gpu_of_a_program_with_a_compiler_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not matter what this environment's compiler can do."""
    load(monkeypatch, Library(version=12000, archs=(50,)))
    assert drivers.cuda_device(0).driver == "CUDA 12.0, driver 550.54.15"
    with pytest.raises(drivers.NoDeviceError, match="no device cuda1"):
        drivers.cuda_device(1)


def test_a_gpu_by_its_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    load(monkeypatch, Library())
    assert drivers.cuda_number_at("0000:00:06.0") == 1
    with pytest.raises(drivers.NoDeviceError, match=r"no GPU at 0000:00:07\.0"):
        drivers.cuda_number_at("0000:00:07.0")


@pytest.mark.parametrize("name", ["cuda", "opencl0:0"])
def test_a_driver_that_cannot_be_loaded_is_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(library: str) -> None:
        raise OSError(f"{library}: cannot open")

    monkeypatch.setattr(ctypes, "CDLL", load)
    with pytest.raises(drivers.NoDeviceError, match="cannot be loaded: lib"):
        check.find(name)
