"""Two profiles side by side, also one of a device."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.profiles import compare as profile_compare
from stacks.profiles import counterparts
from unit.helpers.profiles import case, profile, report, row, tables

SLOW = profile(tables("Dot22", 2.0, 400, "Py", 4), tables("Gemm", 0.4, 10, "C"))
FAST = profile(tables("Dot22", 0.5, 400, "C", 4), tables("Gemm", 0.6, 10, "C"))


@pytest.mark.parametrize("kind", ["classes", "ops", "applies"])
def test_the_costs_of_a_call_sum_up_to_it(kind: str) -> None:
    found = profile_compare.operation_times(SLOW, kind)
    assert sum(cost.seconds for cost in found.values()) == pytest.approx(SLOW["seconds"] / 10)
    assert found[profile_compare.OVERHEAD].seconds == pytest.approx(0.05)
    assert found[profile_compare.CALLING].seconds == pytest.approx(0.025)
    assert not any("Scan" in name or "forall" in name for name in found)


def test_a_scan_without_a_profile_of_its_own_stays_a_row() -> None:
    found = profile_compare.operation_times({**SLOW, "scans": []}, "classes")
    assert found["Scan"].seconds == pytest.approx(0.25)
    assert sum(cost.seconds for cost in found.values()) == pytest.approx(SLOW["seconds"] / 10)


def test_the_largest_change_comes_first() -> None:
    rows = profile_compare.differences(SLOW, FAST, "classes")
    assert [row.name for row in rows[:2]] == ["Dot22", "Gemm"]
    assert rows[0].gained == pytest.approx(-0.15) and rows[0].now_in_c
    assert rows[1].gained == pytest.approx(0.02) and not rows[1].now_in_c
    before = rows[0].before
    assert before and (before.seconds, before.type, before.applies) == (0.2, "Py", 4)


def test_rows_of_one_report_only() -> None:
    other = profile(tables("CGer", 0.5, 400, "C"), tables("Gemm", 0.4, 10, "C"))
    rows = {row.name: row for row in profile_compare.differences(SLOW, other, "classes")}
    assert rows["Dot22"].after is None and rows["Dot22"].gained == pytest.approx(-0.2)
    assert rows["CGer"].before is None and not rows["CGer"].now_in_c


def test_the_table_names_the_ops_that_are_c_now(capsys: pytest.CaptureFixture[str]) -> None:
    profile_compare.show(
        report(case(SLOW), variant="pip-default"), report(case(FAST, seconds=0.008))
    )
    output = capsys.readouterr().out
    assert "ntm step, float32: pip-default on theano-1.0.5 -> openblas on theano-1.0.5" in output
    assert "10.000 -> 8.000 ms, 0.800 of it" in output
    assert "the graphs are the same" in output
    assert "Py -> C" in output and "from Py to C: Dot22{inplace}; -150.000 ms a call" in output


def test_different_graphs_of_one_framework_are_a_remark() -> None:
    other = case(FAST, signature="c" * 12)
    other["graph"]["scans"] *= 2
    lines = "\n".join(profile_compare.heading(report(case(SLOW)), report(other), case(SLOW), other))
    assert "the graphs differ: aaaaaaaaaaaa (3 nodes, 1 scans) -> cccccccccccc" in lines
    assert "may be chance" in lines and "--compiles 5" in lines


def test_without_a_profile_the_calls_still_compare(capsys: pytest.CaptureFixture[str]) -> None:
    profile_compare.show(report(case(SLOW)), report(case(None)))
    output = capsys.readouterr().out
    assert "10.000 -> 10.000 ms" in output and "has no profile" in output


def test_different_work_does_not_compare() -> None:
    with pytest.raises(UsageError, match="workload differs"):
        profile_compare.pairs(report(case(SLOW)), report(case(FAST), workload="lstm"), "")
    with pytest.raises(UsageError, match="dtype differs"):
        profile_compare.pairs(report(case(SLOW)), report(case(FAST), dtype="float64"), "")
    with pytest.raises(UsageError, match="the case merged"):
        profile_compare.pairs(report(case(SLOW)), report(case(FAST)), "merged")


def on_device(found: dict[str, Any], **places: Any) -> dict[str, Any]:
    """Return the report of a case on a device: four of its six products are done on the host."""
    nodes = {"device": {"GpuGemm": 1}, "host": {"Dot22": 4}, "to_device": 2, "from_device": 3}
    where = {"where": "opencl0:0", "name": "a processor"}
    return report({**case(found), "places": {**nodes, **places}}, variant="gpu", device=where)


def test_the_operations_of_a_device_stand_beside_those_of_the_host() -> None:
    device = profile(tables("Dot22", 0.5, 400, "C", 4), tables("GpuGemm", 0.6, 10, "C"))
    rows = {r.name: r for r in profile_compare.differences(SLOW, device, "classes", matched=True)}
    gemm = rows["Gemm"]
    assert gemm.before and gemm.after
    assert (gemm.before.names, gemm.after.names) == (("Gemm",), ("GpuGemm",))
    assert (gemm.before.place, gemm.after.place) == ("host", "device")
    assert gemm.gained == pytest.approx(0.02)
    unmatched = {r.name for r in profile_compare.differences(SLOW, device, "classes")}
    assert {"Gemm", "GpuGemm"} <= unmatched


def test_transfers_and_operations_on_the_host_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outer = tables("GpuGemm", 0.6, 10, "C")
    outer["classes"].append(row("class", "theano.gpuarray.basic_ops.HostFromGpu", 0.1, 30, "C", 3))
    device = profile(tables("Dot22", 0.5, 400, "C", 4), outer)
    profile_compare.show(report(case(SLOW)), on_device(device))
    output = capsys.readouterr().out
    assert "host -> device     Gemm -> GpuGemm" in output
    assert "gpu on opencl0:0: a profiled call took" in output
    assert "other calls wait only at their end" in output
    assert "transfers: 2 to the device, 3 from it, 10.000 ms a call" in output
    assert "stayed on the host: Dot22 50.000 ms" in output
    assert "from Py to C" not in output and "Gemm{inplace}(x0, y)" not in output


def test_two_devices_are_compared_by_their_own_names(capsys: pytest.CaptureFixture[str]) -> None:
    device = profile(tables("GpuDot22", 0.5, 400, "C", 4), tables("GpuGemm", 0.6, 10, "C"))
    profile_compare.show(on_device(device, host={}), on_device(device, host={}))
    output = capsys.readouterr().out
    assert "GpuGemm{inplace}(x0, y)" in output
    assert output.count("stayed on the host: nothing that computes with floats") == 2


@pytest.mark.parametrize(
    ("kind", "host", "device"),
    [
        ("classes", "Elemwise", "GpuElemwise"),
        ("classes", "CGemv", "GpuGemv"),
        ("classes", "Sum", "GpuCAReduceCPY"),
        ("classes", "ConvOp", "GpuCorrMM"),
        ("classes", "Softmax", "GpuDnnSoftmax"),
        ("classes", "DimShuffle", "GpuDimShuffle"),
        ("ops", "Gemm{inplace}", "GpuGemm{inplace=True}"),
        ("ops", "InplaceDimShuffle{1,0}", "InplaceGpuDimShuffle{1,0}"),
        (
            "ops",
            "Elemwise{Composite{tanh((i0 + i1))}}[(0, 0)]",
            "GpuElemwise{Composite{tanh((i0 + i1))}}[(0, 1)]<gpuarray>",
        ),
        ("ops", "IncSubtensor{InplaceInc;int64}", "GpuIncSubtensor{InplaceInc;int64}"),
    ],
)
def test_counterparts(kind: str, host: str, device: str) -> None:
    assert counterparts.counterpart(host, kind) == counterparts.counterpart(device, kind)
    assert (counterparts.place(host), counterparts.place(device)) == ("host", "device")


@pytest.mark.parametrize("name", ["GpuFromHost", "GpuFromHost<None>", "HostFromGpu(gpuarray)"])
def test_a_transfer_is_a_row_of_its_own(name: str) -> None:
    assert counterparts.place(name) == "transfer"
    assert counterparts.counterpart(name, "ops") == name
