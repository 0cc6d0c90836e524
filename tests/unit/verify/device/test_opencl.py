"""The devices of OpenCL's loader."""

from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module

description = suite_module("device.drivers")
drivers = suite_module("device.check")
opencl = suite_module("device.drivers")


def test_every_icd_file_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert "no .icd file in" in opencl._vendors()
    (tmp_path / "broken.icd").write_text("libnowhere.so\n")
    assert "broken.icd names libnowhere.so: " in opencl._vendors()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "none"))
    assert "is no folder" in opencl._vendors()


TEXTS = {
    opencl.PLATFORM_NAME: b"PoCL",
    opencl.PLATFORM_VERSION: b"OpenCL 3.0",
    opencl.DEVICE_NAME: b"pthread-EPYC ",
    opencl.DRIVER_VERSION: b"3.0",
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
        if key == opencl.DEVICE_TYPE:
            buffer._obj.value = opencl.CPU_TYPE
        else:
            buffer.value = TEXTS[key]
        return 0


def test_an_opencl_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl.ctypes, "CDLL", lambda name: Loader())
    assert opencl.opencl_devices() == [
        description.Device("pthread-EPYC", "PoCL, OpenCL 3.0, driver 3.0", "opencl0:0", {}, True)
    ]
