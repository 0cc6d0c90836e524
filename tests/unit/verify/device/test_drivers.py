"""Finding a device by its name among those of the drivers."""

from __future__ import annotations

import ctypes

import pytest

from unit.helpers.suite import suite_module

description = suite_module("device.drivers")
drivers = suite_module("device.check")
opencl = suite_module("device.drivers")


def test_a_device_that_does_not_exist_is_an_error_with_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = description.Device("first", "1", "opencl0:0", {}, True)
    monkeypatch.setattr(opencl, "opencl_devices", lambda: [device])
    assert drivers.find("opencl0:0").name == "first"
    with pytest.raises(description.NoDeviceError) as caught:
        drivers.find("opencl1:0")
    assert "no device opencl1:0; there is: opencl0:0 (first)" in str(caught.value)
    assert caught.value.fix.endswith("device=opencl0:0")


@pytest.mark.parametrize("name", ["cuda", "opencl0:0"])
def test_a_driver_that_cannot_be_loaded_is_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(library: str) -> None:
        raise OSError(f"{library}: cannot open")

    monkeypatch.setattr(ctypes, "CDLL", load)
    with pytest.raises(description.NoDeviceError, match="cannot be loaded: lib"):
        drivers.find(name)
