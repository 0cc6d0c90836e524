from __future__ import annotations

from pathlib import Path

from stacks.bench import store
from stacks.timings import article, command, markdown, page, plots
from unit.helpers.benching import result, runs, subject
from unit.helpers.publishing import Reader, at, read, site, timings


def test_the_articles_steps_stand_beside_ours(tmp_path: Path) -> None:
    three = [subject(name, baseline=name == "pip-default") for name in article.ARTICLE]
    found = [
        run
        for one, seconds in zip(three, (0.4, 0.2, 0.1), strict=True)
        for run in runs(one, [seconds] * 7, name="ntm step", unit="s")
    ]
    store.write(at(tmp_path), result(found, *three))
    (ours,) = article.ours(read(tmp_path))
    assert [(step.part, round(step.seconds)) for step in ours.steps] == [
        (1.0, 40),
        (0.5, 20),
        (0.25, 10),
    ]
    assert [round(step.part, 3) for step in article.article().steps] == [1.0, 0.883, 0.876]
    (plot,) = plots.of_steps([ours])
    assert plot.words.startswith(
        "A training step of a neural Turing machine: the article, and here-2-cores, "
        "2026-11-21T05:30:00Z, 2 threads ("
    )
    assert plot.words.endswith("mkl-amdlibm (theano-1.0.5) 0.250")
    command.publish(at(tmp_path))
    for text in (timings(tmp_path), Reader(site(tmp_path)).text):
        assert "0.883" in text and "0.876" in text and "0.250" in text
        assert "ran each once, on a machine that it does not name" in text


def test_without_the_first_step_there_is_nothing_to_set_beside(tmp_path: Path) -> None:
    two = [subject("mkl"), subject("mkl-amdlibm")]
    found = [run for one in two for run in runs(one, [0.1] * 7, name="ntm step", unit="s")]
    store.write(at(tmp_path), result(found, *two))
    assert article.ours(read(tmp_path)) == []
    assert article.ABOUT[:20] not in markdown.document(read(tmp_path), {})
    assert article.ABOUT[:20] not in Reader(page.document(read(tmp_path), {})).text
