"""What calls and compiling are made of: the same in plot, words and table, Py told from C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.profile import Profile
from stacks.core.workspace import Workspace
from stacks.publish import breakdown, command, plots, tables
from stacks.publish.sessions import ResultSession, sessions
from unit.helpers.benching import BASE, FAST, result, runs


def profile(*rows: tuple[str, str, float], compile_seconds: float = 10.0) -> Profile:
    """Return a profile of ten calls: (class, implementation, seconds of all of them)."""
    kept = tuple({"name": n, "type": t, "seconds": s, "calls": 10} for n, t, s in rows)
    split = {"optimiser": 6.0, "validation": 2.0, "linker": 3.0, "import": 1.0, "modules": 0}
    return Profile.model_validate(
        {
            "calls": 10,
            "seconds": sum(seconds for *_, seconds in rows) + 0.05,
            "compile": {"total": compile_seconds, **split},
            "rows": kept,
            "rest": {"classes": 3, "seconds": 0.05, "calls": 30},
        }
    )


OVERHEAD = ("(scan's own overhead)", "", 0.5)
SLOW = profile(("Dot22", "Py", 5.0), ("Elemwise", "C", 4.0), OVERHEAD)
QUICK = profile(("Elemwise", "C", 4.0), ("Dot22", "C", 1.0), OVERHEAD)


def session(workspace: Workspace, tmp_path: Path, **profiles: Profile | None) -> ResultSession:
    found: list[Any] = []
    for subject, seconds in ((BASE, 1.0), (FAST, 0.6)):
        more = {"profile": profiles.get(subject.flavour), "compile": 10.0}
        found += runs(subject, [seconds] * 7, name="ntm step", unit="s", **more)
    store.write(replace(workspace, root=tmp_path), result(found, BASE, FAST))
    (one,) = sessions(store.read_all(replace(workspace, root=tmp_path))[0])
    return one


def test_a_call_is_made_of_the_classes_of_its_profile(workspace: Workspace, tmp_path: Path) -> None:
    (found,) = breakdown.calls(session(workspace, tmp_path, base=SLOW, fast=QUICK))
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


def test_small_classes_are_summed_and_python_is_not_hidden_among_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    many = [(f"C{n}", "C", 1.0) for n in range(9)]
    many += [("Mixed", "C & Py", 0.2), ("Py", "Py", 0.1), ("None", "C", -0.01)]
    (found,) = breakdown.calls(session(workspace, tmp_path, base=profile(*many)))
    (share,) = found.shares
    parts = {part.name: s for part, s in zip(found.parts, share.seconds, strict=True)}
    assert parts[breakdown.C] == pytest.approx(0.4)
    assert parts[breakdown.PYTHON] == pytest.approx(0.03)
    assert [part.name for part in found.parts if part.python] == [breakdown.PYTHON]
    assert len(parts) == breakdown.LARGEST + 3


def test_python_is_striped_numbered_and_told(workspace: Workspace, tmp_path: Path) -> None:
    _, plot = plots.plots(session(workspace, tmp_path, base=SLOW, fast=QUICK))
    assert plot.title == "ntm step: where a call spends its time, 2 threads, theano-1.0.5"
    assert [bar.text for bar in plot.bars] == ["955 ms, 52% Py", "555 ms, 0% Py"]
    assert "base 955 ms, 52% Py (Elemwise, C 400, Dot22, Py 500, " in plot.words
    assert [key.name for key in plot.keys if key.striped] == ["Dot22, Py"]
    assert plot.svg.count('class="stripes"') == 1
    # Beside the colours the parts have their numbers, where there is room.
    for number in (1, 3):
        assert f'class="part">{number}</text>' in plot.svg


def test_compiling_is_split_into_its_steps(workspace: Workspace, tmp_path: Path) -> None:
    plot, _ = plots.plots(session(workspace, tmp_path, base=SLOW, fast=QUICK))
    assert [bar.text for bar in plot.bars] == ["10.0 + 100 s", "10.0 + 60.0 s"]
    assert plot.words.endswith(
        "fast 10.0 + 60.0 s (optimiser 4, optimiser: validation 2, linker, C compiler 2, "
        "linker: import 1, other 1, 100 calls 60.0)"
    )


def test_without_the_steps_of_all_none_are_told(workspace: Workspace, tmp_path: Path) -> None:
    found = session(workspace, tmp_path, base=SLOW)
    (compiling,) = breakdown.compiling(found)
    assert [part.name for part in compiling.parts] == ["compiling", "100 calls"]
    (calls,) = breakdown.calls(found)
    assert [share.figure.flavour for share in calls.shares] == ["base"]


def test_without_a_profile_there_is_no_table_of_calls(workspace: Workspace, tmp_path: Path) -> None:
    (table,) = tables.tables(session(workspace, tmp_path))
    assert table.title == "Compiling and calling"


def test_the_profile_is_that_of_the_median_start(workspace: Workspace, tmp_path: Path) -> None:
    every = [profile(("Gemm", "C", seconds)) for seconds in (3.0, 1.0, 2.0)]
    found = [
        run
        for n, one in enumerate(every, 1)
        for run in runs(BASE, [1.0], name="lstm", unit="s", profile=one)
        for run in [run.model_copy(update={"round": n})]
    ]
    store.write(replace(workspace, root=tmp_path), result(found, BASE))
    (one,) = sessions(store.read_all(replace(workspace, root=tmp_path))[0])
    assert one.figures[0].profile == every[2]


def test_the_tables_stand_in_both_documents(workspace: Workspace, tmp_path: Path) -> None:
    session(workspace, tmp_path, base=SLOW, fast=QUICK)
    command.publish(replace(workspace, root=tmp_path))
    written = (tmp_path / "docs/timings.md").read_text()
    assert "### Where a call spends its time" in written
    assert "| theano-1.0.5/base | ntm step | Dot22, Py | 500 | 52.4% |" in written
    assert "| theano-1.0.5/fast | ntm step | 4 | 2 | 2 | 1 | 1 | 60.0 |" in written
    page = (tmp_path / "site/index.html").read_text()
    assert '<td>Dot22, Py</td><td class="number">500</td>' in page
    assert page.index("as a table</summary>") < page.index("<svg")
    assert 'striped"></span> 3: Dot22, Py' in page
