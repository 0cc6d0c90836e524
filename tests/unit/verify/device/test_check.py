"""The check of the device, with a program of the test's own in place of the probe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
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


def test_the_probe_compiles_into_the_environments_folder(tmp_path: Path) -> None:
    folder = tmp_path / "compiled"
    folder.mkdir()
    context = device_context(
        tmp_path,
        expectation=expectation("opencl0:0", base_compiledir=str(folder)),
        user_flags="floatX=float32",
    )
    flags = device_check._variables(context)["THEANO_FLAGS"]
    assert flags == f"floatX=float32,device=opencl0:0,base_compiledir={folder}"


def test_the_probe_of_a_diagnosis_compiles_into_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)
    variables = device_check._variables(device_context(tmp_path))
    assert f"base_compiledir={tmp_path}/compiled" in variables["THEANO_FLAGS"]
    assert variables["POCL_CACHE_DIR"].startswith(str(tmp_path))
