"""What calls and compiling are made of: the same in plot and table, Py told from C."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.bench import store
from stacks.timings import breakdown, command, plots
from stacks.timings.sessions import sessions
from unit.helpers.benching import BASE, result, runs
from unit.helpers.publishing import QUICK, SLOW, at, profile, session, site


def test_a_call_is_made_of_the_classes_of_its_profile(tmp_path: Path) -> None:
    (found,) = breakdown.calls(session(tmp_path, base=SLOW, fast=QUICK))
    assert [(part.name, part.python) for part in found.parts] == [
        ("Elemwise, C", False),
        ("Dot22, C", False),
        ("Dot22, Py", True),
        ("(scan's own overhead)", False),
        ("the rest", False),
    ]
    base, fast = found.shares
    assert base.seconds == pytest.approx((0.4, 0.0, 0.5, 0.05, 0.005))
    assert fast.seconds == pytest.approx((0.4, 0.1, 0.0, 0.05, 0.005))
    assert found.python(base) == pytest.approx(0.5 / 0.955)
    assert found.python(fast) == 0


def test_small_classes_are_summed_and_python_is_not_hidden_among_them(tmp_path: Path) -> None:
    many = [(f"C{n}", "C", 1.0) for n in range(9)]
    many += [("Mixed", "C & Py", 0.2), ("Py", "Py", 0.1), ("None", "C", -0.01)]
    (found,) = breakdown.calls(session(tmp_path, base=profile(*many)))
    (share,) = found.shares
    parts = {part.name: s for part, s in zip(found.parts, share.seconds, strict=True)}
    assert parts[breakdown.C] == pytest.approx(0.4)
    assert parts[breakdown.PYTHON] == pytest.approx(0.03)
    assert [part.name for part in found.parts if part.python] == [breakdown.PYTHON]
    assert len(parts) == breakdown.LARGEST + 3


def test_python_time_is_striped_and_numbered(tmp_path: Path) -> None:
    _, plot = plots.plots(session(tmp_path, base=SLOW, fast=QUICK))
    assert plot.title == "ntm step: where a call spends its time, 2 threads, theano-1.0.5"
    assert [bar.text for bar in plot.bars] == ["955 ms, 52% Py", "555 ms, 0% Py"]
    assert plot.rows[0] == ("base", "400", "0", "500", "50.0", "5", "955 ms, 52% Py")
    assert [key.name for key in plot.keys if key.striped] == ["Dot22, Py"]
    command.publish(at(tmp_path))
    page = site(tmp_path)
    assert '<span class="swatch py"></span> 3: Dot22, Py' in page
    # Beside the colours the parts have their numbers, where there is room.
    assert page.count('<i class="py" style="width:52.4%">3</i>') == 1
    assert '<i style="width:0.5%"></i>' in page
    assert "<td>400</td><td>0</td><td>500</td><td>50.0</td><td>5</td>" in page


def test_compiling_is_split_into_its_steps(tmp_path: Path) -> None:
    plot, _ = plots.plots(session(tmp_path, base=SLOW, fast=QUICK))
    assert [bar.text for bar in plot.bars] == ["10.0 + 100 s", "10.0 + 60.0 s"]
    assert [key.name for key in plot.keys] == [
        *("optimiser", "optimiser: validation", "linker, C compiler"),
        *("linker: import", "other", "100 calls"),
    ]
    assert plot.rows[1] == ("fast", "4", "2", "2", "1", "1", "60.0", "10.0 + 60.0 s")


def test_steps_need_a_profile_of_every_variant(tmp_path: Path) -> None:
    found = session(tmp_path, base=SLOW)
    (compiling,) = breakdown.compiling(found)
    assert [part.name for part in compiling.parts] == ["compiling", "100 calls"]
    (calls,) = breakdown.calls(found)
    assert [share.figure.flavour for share in calls.shares] == ["base"]


def test_the_profile_is_that_of_the_median_start(tmp_path: Path) -> None:
    every = [profile(("Gemm", "C", seconds)) for seconds in (3.0, 1.0, 2.0)]
    found = [
        run
        for n, one in enumerate(every, 1)
        for run in runs(BASE, [1.0], name="lstm", unit="s", profile=one)
        for run in [run.model_copy(update={"round": n})]
    ]
    store.write(at(tmp_path), result(found, BASE))
    (one,) = sessions(store.read_all(at(tmp_path))[0])
    assert one.figures[0].profile == every[2]
