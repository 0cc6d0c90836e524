from __future__ import annotations

from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.record import MOST
from stacks.timings import article, markdown, page
from unit.helpers.benching import BASE, FAST, OTHER, beside_loops, result, runs, subject
from unit.helpers.publishing import at, keep, read


def _settings(**more: Any) -> Any:
    return result(runs(BASE, [1.0]), BASE).settings.model_copy(update=more)


def test_only_the_last_result_of_the_same_settings_is_published(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, began="2026-11-23T05:30:00Z")
    keep(tmp_path, began="2026-11-22T05:30:00Z", settings=_settings(workloads=("ntm",)))
    assert [one.result.began for one in read(tmp_path)] == [
        "2026-11-23T05:30:00Z",
        "2026-11-22T05:30:00Z",
    ]


def test_a_ratio_of_another_graph_is_marked(tmp_path: Path) -> None:
    found = [*runs(BASE, [2.0] * 7, graph="one"), *runs(FAST, [5.0] * 7, graph="two")]
    found += runs(OTHER, [5.0] * 7, graph="one")
    store.write(at(tmp_path), result(found, BASE, FAST, OTHER))
    (session,) = read(tmp_path)
    assert [figure.reference for figure in session.figures[1:]] == ["base, another graph", "base"]


def test_a_step_of_another_graph_is_marked(tmp_path: Path) -> None:
    first, second = subject("pip-default", baseline=True), subject("mkl")
    slow = runs(first, [0.4] * 7, name="ntm step", unit="s", graph="one")
    fast = runs(second, [0.2] * 7, name="ntm step", unit="s", graph="two")
    store.write(at(tmp_path), result([*slow, *fast], first, second))
    (ours,) = article.ours(read(tmp_path))
    assert [step.interval for step in ours.steps] == ["", "another graph"]
    assert "| mkl | 20.0 | 0.500 | another graph |" in markdown.document(read(tmp_path), {})


def test_a_session_beside_busy_loops_does_not_replace_an_idle_one(tmp_path: Path) -> None:
    keep(tmp_path)
    found = beside_loops(runs(BASE, [2.0] * 7, name="ntm step", unit="s"))
    found += beside_loops(runs(FAST, [1.0] * 7, name="ntm step", unit="s"))
    late = "2026-11-23T05:30:00Z"
    store.write(at(tmp_path), result(found, BASE, FAST, began=late, settings=_settings(busy=2)))
    busy, idle = read(tmp_path)
    assert (busy.result.settings.busy, idle.result.settings.busy) == (2, 0)
    assert "2 busy loops beside every round" in busy.method and "busy" not in idle.method
    assert "2 busy loops beside every round" in markdown.document([busy, idle], {})
    text = page.document([busy, idle], {})
    assert "<td>ntm step\n<td>2 busy loops\n" in text and "<td>ntm step\n<td>idle\n" not in text
    assert article.ours([busy]) == []


def test_the_largest_compilation_of_a_file_has_a_first_step(tmp_path: Path) -> None:
    seconds = runs(BASE, [MOST] * 7, name="ntm step", unit="s", compile=MOST)
    store.write(at(tmp_path), result(seconds, BASE))
    (session,) = read(tmp_path)
    assert [figure.row.summary.median for figure in session.figures] == [MOST, 2 * MOST]
