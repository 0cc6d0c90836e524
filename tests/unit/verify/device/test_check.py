"""The check of the device, with a program of the test's own in place of the probe; the probe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.devices import device_context, results
from unit.helpers.suite import suite_module

device_check = suite_module("device.check")
drivers = suite_module("device.drivers")
process = suite_module("core.process")


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


def theano(device: str, is_open: bool = True) -> Any:
    """Return a Theano that has opened a device, libgpuarray's second GPU."""
    opened = SimpleNamespace(unique_id="0000:00:07.0")
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
    monkeypatch.setattr(device_check.drivers, "cuda_number_at", {"0000:00:07.0": 1}.__getitem__)
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
