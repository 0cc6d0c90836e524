"""What the suite says of a device, and of a process that hangs or dies with it."""

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY

device = importlib.import_module("verify.device.check")
drivers = importlib.import_module("verify.device.drivers")
device_report = importlib.import_module("verify.device.report")
process = importlib.import_module("verify.core.process")
jsonschema = importlib.import_module("jsonschema")

FOUND = {"name": "a device", "driver": "1", "where": "opencl0:0", "peak": None, "is_cpu": True}
PLACES = {"device": {"GpuGemm": 1}, "host": {}, "to_device": 3, "from_device": 1}
RESULT = {"error": 1e-7, "served": True, "places": PLACES}
RUN = {
    "seconds": 3.0,
    "graph": [0.5, 0.4],
    "local": [1.5, 1.0],
    "nodes": [2100, 900, 910],
    "device": 870,
    "host": {"Sum": 1},
    "rows": [{"seconds": 0.25, "applied": 500, "created": 565, "name": "local_gpua_elemwise"}],
}
SPEED = {"size": 512, "theano": [9.0, 10.0], "alone": [10.0], "check_blas": 0.3, "blas": "libx.so"}


def expectation(own: str, **flags: str) -> dict[str, Any]:
    return {"flags": {"device": own, **flags}}


def context(tmp_path: Path, asked: str = "opencl0:0", **more: object) -> SimpleNamespace:
    made: dict[str, object] = {
        "expectation": None,
        "given_flags": "",
        "folder": str(tmp_path),
        "peaks": {},
    }
    return SimpleNamespace(
        **{
            **made,
            "asked_device": asked,
            "device": dict(FOUND),
            "device_missing": False,
            "full": False,
            **more,
        }
    )


def results(**changed: Any) -> dict[str, Any]:
    found: dict[str, Any] = {name: {"result": RESULT} for name in device_report.COMPUTED}
    found["left on the host"] = {"result": {}}
    found["speed"] = {"result": SPEED}
    found["optimiser"] = {
        "result": {"layers": 2, "steps": 5, "width": 16, "fast_run": RUN, "fast_compile": RUN}
    }
    return {**found, **changed}


def told(found: dict[str, Any], tmp_path: Path, asked: str = "opencl0:0") -> dict[str, Any]:
    checks, _ = device_report.checks_and_timings(context(tmp_path, asked), found)
    return {check.name: check for check in checks}


@pytest.mark.parametrize(
    ("own", "given", "asked"),
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
def test_which_device_is_asked_for(own: str, given: str, asked: str | None) -> None:
    assert device.asked(expectation(own), given) == asked


def test_a_diagnosis_asks_for_what_the_person_has_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("[global]\ndevice = cuda1\n")
    monkeypatch.setenv("THEANORC", str(tmp_path / "rc"))
    assert device.asked(None, "") == "cuda1"
    assert device.asked(None, "device=opencl0:0") == "opencl0:0"
    assert device.asked(None, "device=cpu") is None


def test_what_is_right_passes(tmp_path: Path) -> None:
    checks = told(results(), tmp_path)
    assert {check.status for check in checks.values()} == {"pass"}
    assert "90 %" not in checks["device: Gemm speed"].detail
    assert "100 % of libx.so alone" in checks["device: Gemm speed"].detail
    assert "ratio 0.40" in checks["device: optimiser"].detail


@pytest.mark.parametrize(
    ("step", "message", "said"),
    [
        ("Gemm", {"result": {**RESULT, "error": 0.01}}, "wrong numbers"),
        ("Gemm", {"result": {**RESULT, "error": float("nan")}}, "wrong numbers"),
        ("Gemm", {"result": {**RESULT, "served": False}}, "on the host: all"),
        (
            "softmax",
            {"result": {**RESULT, "places": {**PLACES, "host": {"Softmax": 1}}}},
            "on the host: Softmax",
        ),
        ("scan", {"error": "it did not answer within 240 s", "text": ""}, "did not answer"),
        ("scan", {"result": {**RESULT, "refused": "out of memory"}}, "out of memory"),
        (
            "training step",
            {"result": {**RESULT, "places": {**PLACES, "host": {"Dot22": 1}}}},
            "on the host: Dot22",
        ),
        ("left on the host", {"error": "RuntimeError: x", "text": ""}, "RuntimeError: x"),
    ],
)
def test_what_is_wrong_fails_and_says_what(
    tmp_path: Path, step: str, message: dict[str, Any], said: str
) -> None:
    check = told(results(**{step: message}), tmp_path)["device: " + step]
    assert check.status == "fail"
    assert said in check.detail
    assert check.fix


def test_a_product_that_theano_slows_down_fails(tmp_path: Path) -> None:
    slow = {"speed": {"result": {**SPEED, "alone": [20.0]}}}
    check = told(results(**slow), tmp_path)["device: Gemm speed"]
    assert (check.status, "50 %" in check.detail) == ("fail", True)


def test_a_large_graph_is_told_apart(tmp_path: Path) -> None:
    large = {"layers": 3, "steps": 30, "width": 16, "fast_compile": RUN}
    checks, times = device_report.checks_and_timings(
        context(tmp_path), results(**{"large optimiser": {"result": large}})
    )
    [check] = [check for check in checks if check.name == "device: large optimiser"]
    assert check.detail.startswith("fast_compile: 2100 nodes")
    assert "large optimiser fast_compile, local" in {item.name for item in times}


def test_a_graph_that_stays_on_the_host_fails(tmp_path: Path) -> None:
    stays = {**RUN, "device": 1, "host": {"Dot22": 800}}
    found = {"layers": 2, "steps": 5, "width": 16, "fast_run": stays, "fast_compile": RUN}
    check = told(results(optimiser={"result": found}), tmp_path)["device: optimiser"]
    assert (check.status, "fast_run: 2100 nodes" in check.detail) == ("fail", True)


def test_what_opencl_cannot_do_is_neither_passed_nor_failed_there_alone(tmp_path: Path) -> None:
    host = {**PLACES, "host": {"Scan": 1}}
    scan = {"result": {**RESULT, "refused": "This is for CUDA arrays.", "places": host}}
    loss = {"CrossentropySoftmaxArgmax1HotWithBias": 1, "Sum": 1}
    step = {"result": {**RESULT, "places": {**PLACES, "host": loss}}}
    found = results(**{"scan": scan, "training step": step})
    on_opencl, on_cuda = told(found, tmp_path), told(found, tmp_path, "cuda")
    for name in ("device: scan", "device: training step"):
        assert on_opencl[name].status == "skip"
        assert "not on OpenCL" in on_opencl[name].detail
        assert on_cuda[name].status == "fail"


def test_the_report_carries_the_tables(tmp_path: Path) -> None:
    where = context(tmp_path)
    device_report.checks_and_timings(where, results())
    schema = json.loads((REPOSITORY / "verify/report.schema.json").read_text())
    jsonschema.validate(where.device, {**schema["properties"]["device"], "$defs": schema["$defs"]})
    lines = device_report.table(where.device)
    assert lines[1:3] == [
        "time - times applied - nodes created - name:",
        "0.250s - 500 - 565 - local_gpua_elemwise",
    ]
    assert device_report.table(None) == []


def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a program of the test's own in place of the one that has the device."""
    path = tmp_path / "probe.py"
    path.write_text(
        "import json, os, sys, time\n"
        "def say(**message):\n"
        f"    print({device.MARK!r} + json.dumps(message), flush=True)\n" + body
    )
    words = [sys.executable, str(path)]
    monkeypatch.setattr(process, "suite_words", lambda name, *more: [*words, *more])


def test_a_device_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe(tmp_path, monkeypatch, f"print('noise'); say(opened={FOUND!r})")
    where = context(tmp_path, device=None)
    check = device.check(where)
    assert (check.status, check.detail) == ("pass", "opencl0:0: a device (1)")
    assert where.device == FOUND
    assert where.device_missing is False


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("say(missing='no driver', fix='install it')", "no driver: install it"),
        ("print('loading'); time.sleep(60)", "did not answer within 1 s"),
        ("print('bad driver', flush=True); os.abort()", "ended with status -6, saying: bad driver"),
    ],
)
def test_a_device_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    probe(tmp_path, monkeypatch, body)
    monkeypatch.setattr(device, "OPENING", 1)
    where = context(tmp_path, device=None)
    check = device.check(where)
    assert check.status == "skip"
    assert said in check.detail
    assert (where.device, where.device_missing) == (None, True)


def test_a_step_that_kills_its_process_or_hangs_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = results()
    probe(
        tmp_path,
        monkeypatch,
        f"results = json.loads({json.dumps(messages)!r})\n"
        f"say(opened={FOUND!r})\n"
        "for name in sys.argv[2:]:\n"
        "    say(begin=name)\n"
        "    if name == 'Gemv': print('final linking failed', flush=True); os.abort()\n"
        "    if name == 'softmax': time.sleep(60)\n"
        "    say(end=name, **results[name])\n",
    )
    monkeypatch.setattr(device, "STEP", 1)
    checks, _ = device.measure(context(tmp_path))
    found = {check.name: check for check in checks}
    assert "final linking failed" in found.pop("device: Gemv").detail
    assert "did not answer within 1 s" in found.pop("device: softmax").detail
    assert {check.status for check in found.values()} == {"pass"}


def test_the_device_has_the_environments_own_folders(tmp_path: Path) -> None:
    place = tmp_path / "compiled"
    place.mkdir()
    where = context(
        tmp_path,
        expectation=expectation("opencl0:0", base_compiledir=str(place)),
        given_flags="floatX=float32",
    )
    flags = device._environment(where)["THEANO_FLAGS"]
    assert flags == f"floatX=float32,device=opencl0:0,base_compiledir={place}"
    diagnosis = device._environment(context(tmp_path))
    assert f"base_compiledir={tmp_path}/compiled" in diagnosis["THEANO_FLAGS"]
    assert diagnosis["POCL_CACHE_DIR"].startswith(str(tmp_path))


def test_every_file_of_a_vendor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert "no .icd file in" in drivers._vendors()
    (tmp_path / "broken.icd").write_text("libnowhere.so\n")
    assert "broken.icd names libnowhere.so: " in drivers._vendors()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "none"))
    assert "is no folder" in drivers._vendors()


def test_a_name_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [drivers.Device("first", "1", "opencl0:0", None, True)]
    monkeypatch.setattr(drivers, "opencl_devices", lambda: found)
    assert drivers.find("opencl0:0").name == "first"
    with pytest.raises(drivers.NoDeviceError) as caught:
        drivers.find("opencl1:0")
    assert "no device opencl1:0; there is: opencl0:0 (first)" in str(caught.value)
    assert caught.value.fix.endswith("device=opencl0:0")


def test_a_program_is_followed_to_its_end() -> None:
    lines: list[str] = []
    done = process.follow([sys.executable, "-c", "print(1); print(2)"], 20, None, lines.append)
    assert (done.status, done.timed_out, lines) == (0, False, ["1\n", "2\n"])
