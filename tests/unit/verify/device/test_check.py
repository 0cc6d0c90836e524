"""The check of the device, and NVIDIA's driver, for both of which stand-ins answer.

The loader of OpenCL, one that does not answer, and a real compiler for GPUs:
tests/integration/test_device.py.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.devices import device_context, results
from verify.core import process
from verify.device import check as device_check
from verify.device import drivers


# files: those of Theano's settings, of a diagnosis.
@pytest.mark.parametrize(
    ("environment", "user_flags", "files", "device"),
    [
        ("opencl0:0", "", (), "opencl0:0"),
        ("opencl0:0", "floatX=float32,device=opencl1:0", (), "opencl1:0"),
        ("opencl0:0", "device=cpu", (), "opencl0:0"),
        ("cuda", "device=opencl0:0", (), "cuda"),
        ("cuda", "device=cuda1", (), "cuda1"),
        ("cpu", "", (), None),
        ("cpu", "device=opencl0:0", (), None),
        (None, "", ("cuda1",), "cuda1"),
        (None, "device=opencl0:0", ("cuda1",), "opencl0:0"),
        (None, "device=cpu", ("cuda1",), None),
        # The last file wins.
        (None, "", ("cuda1", "cpu"), None),
    ],
)
def test_the_requested_device(
    environment: str | None,
    user_flags: str,
    files: tuple[str, ...],
    device: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in files:
        (tmp_path / name).write_text(f"[global]\ndevice = {name}\n")
    monkeypatch.setenv("THEANORC", ":".join(str(tmp_path / name) for name in files))
    locked = {"flags": {"device": environment}} if environment else None
    assert device_check.requested(locked, user_flags) == device


# In place of the program on the device: two steps end it, or never end.
PROBE = """
import json, os, sys, time
def send(**message):
    print({mark!r} + json.dumps(message), flush=True)
results = json.loads({results!r})
send(opened={{}})
for name in sys.argv[2:]:
    send(begin=name)
    if name == 'Gemv': print('final linking failed', flush=True); os.abort()
    if name == 'softmax': time.sleep(60)
    send(end=name, **results[name])
"""


def test_a_step_that_aborts_or_hangs_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROBE.format(mark=device_check.MARK, results=json.dumps(results()))
    command = [sys.executable, "-c", program]
    monkeypatch.setattr(process, "suite_command", lambda name, *more: [*command, *more])
    monkeypatch.setattr(device_check, "STEP", 1)
    checks, _ = device_check.measure(device_context(tmp_path))
    by_name = {check.name: check for check in checks}
    assert "final linking failed" in by_name.pop("device: Gemv").detail
    assert "did not answer within 1 s" in by_name.pop("device: softmax").detail
    assert {check.status for check in by_name.values()} == {"pass"}


def theano(device: str, is_open: bool = True, bus: str = "0000:00:07.0") -> Any:
    """Return a Theano that has opened a device, libgpuarray's second GPU."""
    opened = SimpleNamespace(unique_id=bus)
    gpuarray = SimpleNamespace(pygpu_activated=is_open, get_context=lambda name: opened)
    return SimpleNamespace(gpuarray=gpuarray, config=SimpleNamespace(device=device))


@pytest.mark.parametrize(
    ("module", "key", "text"),
    [
        (theano("cuda", is_open=False), "missing", "Theano could not open cuda: "),
        (theano("cpu"), "missing", "Theano opened cpu instead of cuda"),
        # `cuda` is the first that it can open, not the first of all.
        (theano("cuda"), "opened", "GPU cuda1"),
    ],
)
def test_the_device_that_theano_opens(
    module: Any,
    key: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(device_check, "find", found)
    monkeypatch.setattr(device_check.drivers, "cuda_number_opened", lambda: 1)
    monkeypatch.setitem(sys.modules, "theano", module)
    monkeypatch.setitem(sys.modules, "pygpu", None)
    device_check.main(["cuda"])
    [line] = [line for line in capsys.readouterr().out.splitlines() if line]
    message = json.loads(line.removeprefix(device_check.MARK))
    content = message["opened"]["name"] if key == "opened" else message["missing"]
    assert content.startswith(text) and bool(message.get("fix")) is (key == "missing")


def found(name: str) -> Any:
    return drivers.Device("GPU " + name, "1", name, {}, False)


class OtherError:
    """A Theano whose import fails for another reason than its device."""

    def find_spec(self, name: str, *rest: Any) -> None:
        if name == "theano":
            raise RuntimeError("module compiled against API version 0xf")


def test_another_error_of_the_import_is_not_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "theano", raising=False)
    monkeypatch.setattr(sys, "meta_path", [OtherError(), *sys.meta_path])
    monkeypatch.setattr(device_check, "find", found)
    with pytest.raises(RuntimeError, match="API version"):
        device_check.main(["cuda"])


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
    monkeypatch.setattr(drivers, "read_text", lambda path: "NVRM: Kernel Module  550.54.15  Tue")


@pytest.mark.parametrize(
    "line",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (root)",
    ],
)
def test_a_cuda_device_with_its_nominal_peaks(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(monkeypatch, Library())
    monkeypatch.setattr(drivers, "read_text", lambda path: line)
    device = device_check.find("cuda")
    assert device.name == "NVIDIA H100, compute capability 9.0"
    assert device.driver == "CUDA 12.4, driver 550.54.15, nvrtc 12.4, cuBLAS 12.4.5"
    assert (device.where, device.is_cpu) == ("cuda0", False)
    assert device.peaks["float32"] == pytest.approx(2 * 1.98 * 132 * 128)
    # NVIDIA's own figure of an H100 SXM is 67 TFLOP/s, with the tensor cores.
    assert device.peaks["float64"] == pytest.approx(67e3, rel=0.01)
    # In an environment that is only diagnosed there is no compiler.
    load(monkeypatch, Library(), only="libcuda")
    assert device_check.find("cuda").driver == "CUDA 12.4, driver 550.54.15"


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
    with pytest.raises(drivers.FrameworkError, match=message) as caught:
        device_check.find("cuda")
    assert caught.value.fix.startswith(fix)


def test_a_gpu_by_its_number_and_by_its_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with a compiler of its own does not need what this environment's can do."""
    load(monkeypatch, Library(version=12000, archs=(50,)))
    assert drivers.cuda_device(0).driver == "CUDA 12.0, driver 550.54.15"
    with pytest.raises(drivers.FrameworkError, match="no device cuda1"):
        drivers.cuda_device(1)
    monkeypatch.setitem(sys.modules, "theano", theano("cuda", bus="0000:00:06.0"))
    assert drivers.cuda_number_opened() == 1
    monkeypatch.setitem(sys.modules, "theano", theano("cuda"))
    with pytest.raises(drivers.FrameworkError, match=r"no GPU at 0000:00:07\.0"):
        drivers.cuda_number_opened()
