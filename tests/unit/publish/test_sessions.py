from __future__ import annotations

from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.publish import article, markdown
from unit.helpers.benching import BASE, FAST, OTHER, result, runs, subject
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
