from __future__ import annotations

from pathlib import Path

from stacks.bench import store
from stacks.bench.profile import Rest
from stacks.timings import columns, command, plots, svg
from unit.helpers.benching import BASE, FAST, MACHINE, ON_DEVICE, result, runs
from unit.helpers.publishing import GEMM, WITH_PEAK, Reader, at, keep, profile, read, session, site


def test_products_are_drawn_against_the_peak(tmp_path: Path) -> None:
    small = "Gemm float64 500"
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(BASE, [9.0] * 7, name=small)]
    store.write(at(tmp_path), result(found, BASE, machine=WITH_PEAK))
    (session,) = read(tmp_path)
    (plot,) = plots.plots(session)
    assert plot.words == (
        "Matrix product, float64, 2000 x 2000, 2 threads, theano-1.0.5 (GFLOP/s and part of the "
        "measured peak, more is better; lines are quartiles): "
        "base 2 GFLOP/s, 20%; measured peak 10.0 GFLOP/s"
    )
    assert svg.draw(plot.bars).count("<rect") == 2 + 2


def test_products_of_a_device_are_no_share_of_the_processors_peak(tmp_path: Path) -> None:
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(ON_DEVICE, [400.0] * 7, name=GEMM)]
    found += runs(ON_DEVICE, [500.0] * 7, name="Gemm float64 10000")
    store.write(at(tmp_path), result(found, BASE, ON_DEVICE, machine=WITH_PEAK))
    (session,) = read(tmp_path)
    (plot,) = plots.plots(session)
    assert [bar.text for bar in plot.bars] == ["2 GFLOP/s, 20%", "10.0 GFLOP/s"]
    column = columns.Column("Gemm 2000", GEMM, dtype="float64")
    shown = [column.text(figure, session) for figure in session.figures[:2]]
    assert shown == ["2 GFLOP/s, 20%", "400 GFLOP/s"]


def test_compiling_is_drawn_before_the_calls(tmp_path: Path) -> None:
    slow = runs(BASE, [0.1] * 7, name="lstm merged", unit="s", compile=5.0)
    fast = runs(FAST, [0.02] * 7, name="lstm merged", unit="s", compile=4.0)
    store.write(at(tmp_path), result([*slow, *fast], BASE, FAST))
    (plot,) = plots.plots(read(tmp_path)[0])
    assert plot.words == (
        "lstm merged: compiling and 100 calls, 2 threads, theano-1.0.5 (seconds of compiling, its "
        "C code being cached, and then of the calls; less is better): "
        "base 5 + 10.0 s; fast 4 + 2 s"
    )
    assert [key.name for key in plot.keys] == ["compiling", "100 calls"]
    assert plot.rows == [("base", "5", "10.0", "5 + 10.0 s"), ("fast", "4", "2", "4 + 2 s")]
    command.publish(at(tmp_path))
    in_session = site(tmp_path).partition('<details class="session"')[2]
    of = [dict(one) for one in Reader(in_session).elements]
    widths = [one["style"] for one in of if one.get("style", "").startswith("width:")]
    # In proportion to the longest bar, 15 s.
    assert widths == ["width:33.3%", "width:66.7%", "width:26.7%", "width:13.3%"]


def test_a_profile_of_no_time_is_drawn_empty(tmp_path: Path) -> None:
    nothing = profile(("Dot22", "C", 0.0)).model_copy(
        update={"rest": Rest(classes=0, seconds=0, calls=0)}
    )
    session(tmp_path, base=nothing, fast=nothing)
    command.publish(at(tmp_path))
    assert "where a call spends its time" in site(tmp_path)


def test_a_machine_whose_peak_is_not_known(tmp_path: Path) -> None:
    keep(tmp_path, machine=MACHINE)
    (plot,) = plots.plots(read(tmp_path)[0])
    assert [bar.text for bar in plot.bars] == ["2 GFLOP/s", "5 GFLOP/s"]
