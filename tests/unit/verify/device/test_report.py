"""The checks and timings of a device."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.devices import PLACES, RESULT, RUN, SPEED, device_context, results
from verify.device import report


def checks_of(
    messages: dict[str, Any], tmp_path: Path, device: str = "opencl0:0"
) -> dict[str, Any]:
    checks, _ = report.checks_and_timings(
        device_context(tmp_path, requested_device=device), messages
    )
    return {check.name: check for check in checks}


def test_right_results_pass(tmp_path: Path) -> None:
    checks = checks_of(results(), tmp_path)
    assert {check.status for check in checks.values()} == {"pass"}
    assert "90 %" not in checks["device: Gemm speed"].detail
    assert "100 % of libx.so alone" in checks["device: Gemm speed"].detail
    assert "ratio 0.40" in checks["device: optimiser"].detail


def errors(**of_precisions: float) -> dict[str, Any]:
    return {"result": {**RESULT, "errors": of_precisions}}


def on_host(**ops: int) -> dict[str, Any]:
    return {"result": {**RESULT, "places": {**PLACES, "host": ops}}}


def network(**changes: Any) -> dict[str, Any]:
    run = {**RUN, **changes}
    return {"result": {"layers": 2, "steps": 5, "width": 16, "fast_run": run, "fast_compile": RUN}}


SLOW = {"result": {**SPEED, "alone": [20.0]}}
LATE, BROKEN = "it did not answer within 240 s", "RuntimeError: x"
SHORT = {"error": "GpuArrayException: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory"}
GEMM_SPEED, OVERHEAD = "device: Gemm speed", "look for transfers"


@pytest.mark.parametrize(
    ("step", "message", "detail", "fix"),
    [
        ("Gemm", errors(float32=0.01), "wrong numbers", "if Gemm still fails"),
        ("Gemm", errors(float32=1e-7, float64=1e-9), "wrong numbers", "if Gemm still fails"),
        ("Gemm", errors(float32=float("nan")), "wrong numbers", "if Gemm still fails"),
        ("Gemm", {"result": {**RESULT, "served": False}}, "on the host: all", "if Gemm still"),
        ("softmax", on_host(Softmax=1), "on the host: Softmax", "if softmax still fails"),
        ("training step", on_host(Dot22=1), "on the host: Dot22", "if training step still"),
        ("scan", {"error": LATE}, LATE, "if scan still fails"),
        ("scan", {"result": {**RESULT, "refused": "out of memory"}}, "out of memory", "if scan"),
        ("left on the host", {"error": BROKEN}, BROKEN, "if the optimiser still fails"),
        ("speed", SLOW, "50 % of libx.so alone", OVERHEAD),
        ("optimiser", network(device=1, host={"Dot22": 800}), "fast_run: 2100 nodes", "optimiser"),
        # Optimisations that are tried in vain are no move.
        ("optimiser", network(applied=0), "most nodes stay on the host", "if the optimiser still"),
        # Short memory is named as such.
        *((step, SHORT, SHORT["error"], "nvidia-smi") for step in ("Gemm", "speed", "optimiser")),
    ],
)
def test_wrong_results_fail_with_the_reason(
    step: str, message: dict[str, Any], detail: str, fix: str, tmp_path: Path
) -> None:
    checks = checks_of(results(**{step: message}), tmp_path)
    [check] = [check for check in checks.values() if check.status == "fail"]
    assert check.name == (GEMM_SPEED if step == "speed" else "device: " + step)
    assert detail in check.detail and fix in check.fix


def products(theano: float) -> dict[str, Any]:
    one = {"dtype": "float64", "size": 2000, "theano": [theano, 1.0], "alone": [100.0]}
    return {"products": {"result": [{**one, "dtype": "float32"}, one]}}


@pytest.mark.parametrize(("theano", "status"), [(99.0, "pass"), (79.0, "fail")])
def test_products_are_compared_with_the_blas_alone(
    tmp_path: Path, theano: float, status: str
) -> None:
    gpu = {"name": "a GPU", "driver": "1", "where": "cuda0", "is_cpu": False}
    context = device_context(tmp_path, device={**gpu, "peaks": {"float64": 200.0}})
    checks, times = report.checks_and_timings(context, results(**products(theano)))
    [check] = [check for check in checks if check.name == "device: products"]
    assert (check.status, bool(check.fix)) == (status, status == "fail")
    whole = f"float64 2000: {theano:.1f} GFLOP/s, {theano:.0f} % of the BLAS alone"
    assert f"{whole}, {theano / 2:.0f} % of the nominal peak" in check.detail
    assert "device BLAS alone float32 2000" in {item.name for item in times}


def test_limits_of_opencl_are_skipped_on_opencl_and_fail_on_cuda(tmp_path: Path) -> None:
    scan = on_host(Scan=1)
    scan["result"]["refused"] = "This is for CUDA arrays."
    step = on_host(CrossentropySoftmaxArgmax1HotWithBias=1, Sum=1)
    messages = results(**{"scan": scan, "training step": step})
    on_opencl, on_cuda = checks_of(messages, tmp_path), checks_of(messages, tmp_path, "cuda")
    for name in ("device: scan", "device: training step"):
        assert on_opencl[name].status == "skip"
        assert "not on OpenCL" in on_opencl[name].detail
        assert on_cuda[name].status == "fail"


def test_the_part_of_the_report_follows_its_schema(tmp_path: Path) -> None:
    context = device_context(tmp_path)
    report.checks_and_timings(context, results())
    schema = json.loads((REPOSITORY / "verify/report.schema.json").read_text())
    jsonschema.validate(
        context.device, {**schema["properties"]["device"], "$defs": schema["$defs"]}
    )
