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
process = suite_module("core.process")


def expectation(device: str, **flags: str) -> dict[str, Any]:
    return {"flags": {"device": device, **flags}}


@pytest.mark.parametrize(
    ("environment", "user_flags", "device"),
    [
        ("opencl0:0", "", "opencl0:0"),
        ("opencl0:0", "floatX=float32,device=opencl1:0", "opencl1:0"),
        ("opencl0:0", "device=cpu", "opencl0:0"),
        ("cuda", "device=opencl0:0", "cuda"),
        ("cuda", "device=cuda1", "cuda1"),
        ("cpu", "", None),
        ("cpu", "device=opencl0:0", None),
    ],
)
def test_the_requested_device(environment: str, user_flags: str, device: str | None) -> None:
    assert device_check.requested(expectation(environment), user_flags) == device


def test_the_requested_device_of_a_diagnosis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("[global]\ndevice = cuda1\n")
    monkeypatch.setenv("THEANORC", str(tmp_path / "rc"))
    assert device_check.requested(None, "") == "cuda1"
    assert device_check.requested(None, "device=opencl0:0") == "opencl0:0"
    assert device_check.requested(None, "device=cpu") is None
    (tmp_path / "last").write_text("[global]\ndevice = cpu\n")
    monkeypatch.setenv("THEANORC", f"{tmp_path / 'rc'}:{tmp_path / 'last'}")
    assert device_check.requested(None, "") is None


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


def test_an_available_device_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_probe(tmp_path, monkeypatch, f"print('noise'); send(opened={DEVICE!r})")
    context = device_context(tmp_path, device=None)
    check = device_check.check(context)
    assert (check.status, check.detail) == ("pass", "opencl0:0: a device (1)")
    assert (context.device, context.device_missing) == (DEVICE, False)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("send(missing='no driver', fix='install it')", "no driver: install it"),
        ("print('loading'); time.sleep(60)", "did not answer within 1 s"),
        ("print('bad driver', flush=True); os.abort()", "ended with status -6: bad driver"),
    ],
)
def test_a_missing_device_a_driver_that_hangs_and_one_that_aborts_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, detail: str
) -> None:
    replace_probe(tmp_path, monkeypatch, body)
    monkeypatch.setattr(device_check, "OPENING", 1)
    context = device_context(tmp_path, device=None)
    check = device_check.check(context)
    assert check.status == "skip"
    assert detail in check.detail
    assert (context.device, context.device_missing) == (None, True)


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


description = suite_module("device.drivers")


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


@pytest.mark.parametrize(
    ("theano", "message", "fix"),
    [
        (SimpleNamespace(), "Theano could not open cuda: ", "the device exists"),
        (
            SimpleNamespace(
                gpuarray=SimpleNamespace(pygpu_activated=True), config=SimpleNamespace(device="cpu")
            ),
            "Theano opened cpu instead of cuda",
            "remove `device` from THEANO_FLAGS",
        ),
    ],
)
def test_a_device_that_theano_does_not_open_is_missing(
    theano: object,
    message: str,
    fix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        device_check, "find", lambda name: description.Device("a device", "1", name, {}, False)
    )
    monkeypatch.setitem(sys.modules, "theano", theano)
    monkeypatch.setitem(sys.modules, "pygpu", None)
    device_check.main(["cuda", "Gemm"])
    (missing,) = messages(capsys)
    assert missing["missing"].startswith(message)
    assert missing["fix"].startswith(fix)


def test_the_gpu_that_libgpuarray_took_is_described(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`cuda` is the first that it can open, not the first of all."""
    context = SimpleNamespace(unique_id="0000:00:07.0")
    gpuarray = SimpleNamespace(pygpu_activated=True, get_context=lambda name: context)
    theano = SimpleNamespace(gpuarray=gpuarray, config=SimpleNamespace(device="cuda"))
    monkeypatch.setitem(sys.modules, "theano", theano)
    monkeypatch.setattr(
        device_check, "find", lambda name: description.Device("GPU " + name, "1", name, {}, False)
    )
    monkeypatch.setattr(device_check.drivers, "cuda_number_at", {"0000:00:07.0": 1}.__getitem__)
    device_check.main(["cuda"])
    [opened] = messages(capsys)
    assert opened["opened"]["name"] == "GPU cuda1"


class OtherError:
    """A Theano whose import fails for another reason than its device."""

    def find_spec(self, name: str, *rest: Any) -> None:
        if name == "theano":
            raise RuntimeError("module compiled against API version 0xf")


def test_another_error_of_the_import_is_not_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "theano", raising=False)
    monkeypatch.setattr(sys, "meta_path", [OtherError(), *sys.meta_path])
    monkeypatch.setattr(
        device_check, "find", lambda name: description.Device("a device", "1", name, {}, False)
    )
    with pytest.raises(RuntimeError, match="API version"):
        device_check.main(["cuda"])
