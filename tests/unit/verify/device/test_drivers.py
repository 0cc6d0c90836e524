"""The devices of OpenCL's loader and of NVIDIA's driver."""

from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module

drivers = suite_module("device.drivers")


def test_every_icd_file_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert "no .icd file in" in drivers._vendors()
    (tmp_path / "broken.icd").write_text("libnowhere.so\n")
    assert "broken.icd names libnowhere.so: " in drivers._vendors()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "none"))
    assert "is no folder" in drivers._vendors()


def test_a_device_that_does_not_exist_is_an_error_with_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = drivers.Device("first", "1", "opencl0:0", None, True)
    monkeypatch.setattr(drivers, "opencl_devices", lambda: [device])
    assert drivers.find("opencl0:0").name == "first"
    with pytest.raises(drivers.NoDeviceError) as caught:
        drivers.find("opencl1:0")
    assert "no device opencl1:0; there is: opencl0:0 (first)" in str(caught.value)
    assert caught.value.fix.endswith("device=opencl0:0")


ATTRIBUTES = {
    drivers.CLOCK_KHZ: 1_980_000,
    drivers.PROCESSORS: 132,
    drivers.MAJOR: 9,
    drivers.MINOR: 0,
}


class Driver:
    """NVIDIA's driver for CUDA 12.4 with one H100."""

    def __init__(self, status: int = 0, count: int = 1) -> None:
        self.status, self.count = status, count

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return self.status

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = 12040
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


def test_a_cuda_device_with_its_nominal_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers.ctypes, "CDLL", lambda name: Driver())
    monkeypatch.setattr(drivers, "_file", lambda path: "NVRM: Kernel Module  550.54.15  Tue")
    device = drivers.find("cuda")
    assert device.name == "NVIDIA H100, compute capability 9.0"
    assert device.driver == "CUDA 12.4, driver 550.54.15"
    assert (device.where, device.is_cpu) == ("cuda0", False)
    assert device.peak == pytest.approx(2 * 1.98 * 132 * 128)


@pytest.mark.parametrize(
    ("driver", "message"), [(Driver(status=100), "answers 100"), (Driver(count=0), "no GPU")]
)
def test_a_driver_without_a_gpu_is_an_error(
    driver: Driver, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers.ctypes, "CDLL", lambda name: driver)
    with pytest.raises(drivers.NoDeviceError, match=message):
        drivers.find("cuda")


@pytest.mark.parametrize("name", ["cuda", "opencl0:0"])
def test_a_driver_that_cannot_be_loaded_is_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(library: str) -> None:
        raise OSError(f"{library}: cannot open")

    monkeypatch.setattr(drivers.ctypes, "CDLL", load)
    with pytest.raises(drivers.NoDeviceError, match="cannot be loaded: lib"):
        drivers.find(name)


TEXTS = {
    drivers.PLATFORM_NAME: b"PoCL",
    drivers.PLATFORM_VERSION: b"OpenCL 3.0",
    drivers.DEVICE_NAME: b"pthread-EPYC ",
    drivers.DRIVER_VERSION: b"3.0",
}


class Loader:
    """OpenCL's loader with one platform and one processor."""

    def clGetPlatformIDs(self, room: Any, ids: Any, count: Any) -> int:  # noqa: N802
        if ids is None:
            count._obj.value = 1
        else:
            ids[0] = 7
        return 0

    def clGetDeviceIDs(self, platform: Any, kinds: Any, *rest: Any) -> int:  # noqa: N802
        return self.clGetPlatformIDs(*rest)

    def clGetPlatformInfo(self, identity: Any, key: int, *rest: Any) -> int:  # noqa: N802
        return self.clGetDeviceInfo(identity, key, *rest)

    def clGetDeviceInfo(  # noqa: N802
        self, identity: Any, key: int, size: Any, buffer: Any, used: Any
    ) -> int:
        if key == drivers.DEVICE_TYPE:
            buffer._obj.value = drivers.CPU_TYPE
        else:
            buffer.value = TEXTS[key]
        return 0


def test_an_opencl_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers.ctypes, "CDLL", lambda name: Loader())
    assert drivers.opencl_devices() == [
        drivers.Device("pthread-EPYC", "PoCL, OpenCL 3.0, driver 3.0", "opencl0:0", None, True)
    ]
