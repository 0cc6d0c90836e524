"""The messages of the program that opens the device."""

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

probe = suite_module("device.check")
description = suite_module("device.drivers")
drivers = suite_module("device.check")


def messages(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    lines = capsys.readouterr().out.splitlines()
    return [json.loads(line[len(probe.MARK) :]) for line in lines if line.startswith(probe.MARK)]


@pytest.mark.filterwarnings("default")
def test_each_step_begins_and_ends_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def step(name: str) -> int:
        if name == "scan":
            raise ValueError("no scan")
        return 7

    monkeypatch.setattr(probe, "opened", lambda name: {"name": name})
    monkeypatch.setattr(probe, "step", step)
    probe.main(["cuda", "Gemm", "scan"])
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
        drivers, "find", lambda name: description.Device("a device", "1", name, {}, False)
    )
    monkeypatch.setitem(sys.modules, "theano", theano)
    monkeypatch.setitem(sys.modules, "pygpu", None)
    probe.main(["cuda", "Gemm"])
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
        drivers, "find", lambda name: description.Device("GPU " + name, "1", name, {}, False)
    )
    monkeypatch.setattr(probe.drivers, "cuda_number_at", {"0000:00:07.0": 1}.__getitem__)
    probe.main(["cuda"])
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
        drivers, "find", lambda name: description.Device("a device", "1", name, {}, False)
    )
    with pytest.raises(RuntimeError, match="API version"):
        probe.main(["cuda"])
