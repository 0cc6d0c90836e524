"""The check of the device, with a program of the test's own in place of the probe; the probe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.devices import DEVICE, device_context, results
from unit.helpers.suite import suite_module

device_check = suite_module("device.check")
drivers = suite_module("device.drivers")
process = suite_module("core.process")


def expectation(device: str, **flags: str) -> dict[str, Any]:
    return {"flags": {"device": device, **flags}}


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
    locked = expectation(environment) if environment else None
    assert device_check.requested(locked, user_flags) == device


def replace_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Make the check run a program whose function `send` sends a message."""
    path = tmp_path / "probe.py"
    path.write_text(
        "import json, os, sys, time\n"
        "def send(**message):\n"
        f"    print({device_check.MARK!r} + json.dumps(message), flush=True)\n" + body
    )
    command = [sys.executable, str(path)]
    monkeypatch.setattr(process, "suite_command", lambda name, *more: [*command, *more])


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (f"print('noise'); send(opened={DEVICE!r})", "pass", "opencl0:0: a device (1)"),
        ("send(missing='no driver', fix='install it')", "skip", "no driver: install it"),
        ("print('loading'); time.sleep(60)", "skip", "did not answer within 1 s"),
        ("print('bad', flush=True); os.abort()", "skip", "ended with status -6: bad: to see the"),
    ],
)
def test_a_missing_device_a_driver_that_hangs_and_one_that_aborts_are_skipped(
    body: str, status: str, detail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_probe(tmp_path, monkeypatch, body)
    monkeypatch.setattr(device_check, "OPENING", 5 if status == "pass" else 1)
    context = device_context(tmp_path, device=None)
    check = device_check.check(context)
    assert check.status == status and detail in check.detail
    opened = DEVICE if status == "pass" else None
    assert (context.device, context.device_missing) == (opened, opened is None)


def test_a_step_that_aborts_or_hangs_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_probe(
        tmp_path,
        monkeypatch,
        f"results = json.loads({json.dumps(results())!r})\n"
        f"send(opened={DEVICE!r})\n"
        "for name in sys.argv[2:]:\n"
        "    send(begin=name)\n"
        "    if name == 'Gemv': print('final linking failed', flush=True); os.abort()\n"
        "    if name == 'softmax': time.sleep(60)\n"
        "    send(end=name, **results[name])\n",
    )
    monkeypatch.setattr(device_check, "STEP", 1)
    checks, _ = device_check.measure(device_context(tmp_path))
    by_name = {check.name: check for check in checks}
    assert "final linking failed" in by_name.pop("device: Gemv").detail
    assert "did not answer within 1 s" in by_name.pop("device: softmax").detail
    assert {check.status for check in by_name.values()} == {"pass"}


@pytest.mark.parametrize("is_built", [True, False])
def test_the_folder_that_the_probe_compiles_into(
    is_built: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's, or in a diagnosis a temporary one."""
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)
    (folder := tmp_path / "own").mkdir()
    locked = expectation("opencl0:0", base_compiledir=str(folder)) if is_built else None
    context = device_context(tmp_path, expectation=locked, user_flags="floatX=float32")
    variables = device_check._variables(context)
    used = folder if is_built else tmp_path / "compiled"
    flags = f"floatX=float32,device=opencl0:0,base_compiledir={used}"
    assert variables["THEANO_FLAGS"] == flags
    assert variables["POCL_CACHE_DIR"] == f"{tmp_path}/kernels"


def messages(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    lines = capsys.readouterr().out.splitlines()
    return [
        json.loads(line[len(device_check.MARK) :])
        for line in lines
        if line.startswith(device_check.MARK)
    ]


@pytest.mark.filterwarnings("default")
def test_each_step_begins_and_ends_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def step(name: str) -> int:
        if name == "scan":
            raise ValueError("no scan")
        return 7

    monkeypatch.setattr(device_check, "opened", lambda name: {"name": name})
    monkeypatch.setattr(device_check, "step", step)
    device_check.main(["cuda", "Gemm", "scan"])
    assert messages(capsys) == [
        {"opened": {"name": "cuda"}},
        {"begin": "Gemm"},
        {"end": "Gemm", "result": 7},
        {"begin": "scan"},
        {"end": "scan", "error": "ValueError: no scan", "text": "no scan"},
    ]


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
    [message] = messages(capsys)
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
