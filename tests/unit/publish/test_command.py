"""What is published: the same bytes for the same results, nothing made up, nothing let through."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.result import Peak
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.publish import article, command, markdown, page, plots
from stacks.publish.sessions import ResultSession, sessions
from unit.helpers.benching import BASE, FAST, MACHINE, OTHER, missing, result, runs, subject

EVIL = "<script>alert(1)</script>\"'>|`x`\n# [a](b) &lt; {{ 7*7 }} </style>"
GEMM = "Gemm float64 2000"
WITH_PEAK = MACHINE.model_copy(
    update={"peak": (Peak(dtype="float64", threads=2, gflops=10.0),), "glibc": "2.36"}
)


class Reader(HTMLParser):
    """Collects what a browser would: elements, attributes, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.elements: list[list[tuple[str, str]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append([(name, value or "") for name, value in attrs])

    @property
    def attributes(self) -> list[tuple[str, str]]:
        """Every attribute of every element."""
        return [one for attributes in self.elements for one in attributes]

    def handle_data(self, data: str) -> None:
        self.text += data


def keep(workspace: Workspace, root: Path, **more: Any) -> Path:
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(FAST, [5.0] * 7, name=GEMM)]
    one = result(found, BASE, FAST, **{"machine": WITH_PEAK, **more})
    return store.write(replace(workspace, root=root), one)


def read(workspace: Workspace, root: Path) -> list[ResultSession]:
    return sessions(store.read_all(replace(workspace, root=root))[0])


def site(root: Path) -> str:
    return (root / "site/index.html").read_text()


def timings(root: Path) -> str:
    return (root / "docs/timings.md").read_text()


def test_every_figure_has_its_machine_versions_and_samples(
    workspace: Workspace, tmp_path: Path
) -> None:
    keep(workspace, tmp_path, remarks=("other programs were busy",))
    command.publish(replace(workspace, root=tmp_path))
    assert (
        "| theano-1.0.5 | fast | Gemm float64 2000 | 2 | 5 GFLOP/s | 5 - 5 | 7 in 7 rounds "
        "| 2.50 (2.50 - 2.50) | base |"
    ) in timings(tmp_path)
    seen = " ".join(Reader(site(tmp_path)).text.split())
    assert "fast Gemm float64 2000 5 GFLOP/s 2.50 (2.50 - 2.50) base 2 theano-1.0.5" in seen
    for text in (timings(tmp_path), seen):
        assert "Here (Someone 1 2 3, microcode 0x1), 2 cores, 8 GiB; kernel 6.1, glibc 2.36" in text
        assert "numpy 1.22.4; lock " + "a" * 64 in text
        assert "float64 on 2 threads 10.0 GFLOP/s" in text
        assert "c" * 40 in text
        assert "Gemm float64 2000, 2 threads: fast is the fastest" in text
        assert "other programs were busy" in text


def test_what_gave_no_answer_has_a_row_without_a_figure(
    workspace: Workspace, tmp_path: Path
) -> None:
    keep(workspace, tmp_path, missing=(missing(FAST),))
    command.publish(replace(workspace, root=tmp_path))
    assert "| theano-1.0.5 | fast | ntm, numba | 2 | no answer |  |  |  |  |\n" in timings(tmp_path)
    seen = " ".join(Reader(site(tmp_path)).text.split())
    assert (
        "fast ntm, numba no answer 2 theano-1.0.5 had not compiled within 300 s, 287 s of them on "
        "a processor: it has no figure here-2-cores"
    ) in seen
    for text in (timings(tmp_path), seen):
        assert "ntm, numba, 2 threads: theano-1.0.5/fast had not compiled within 300 s" in text


def test_the_same_results_give_the_same_bytes(workspace: Workspace, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        keep(workspace, root)
        keep(workspace, root, began="2026-11-22T05:30:00Z", settings=_settings(quick=False))
        command.publish(replace(workspace, root=root))
    assert site(first) == site(second) and timings(first) == timings(second)


def _settings(**more: Any) -> Any:
    return result(runs(BASE, [1.0]), BASE).settings.model_copy(update=more)


def test_nothing_is_taken_from_elsewhere(workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, tmp_path)
    command.publish(replace(workspace, root=tmp_path))
    found = Reader(site(tmp_path))
    assert {"svg", "style", "script", "table"} <= set(found.tags)
    links = {value for name, value in found.attributes if name in ("href", "src", "xlink:href")}
    assert links == {"data:,", "#session-1"}
    names = {value for name, value in found.attributes if value.startswith("http")}
    assert names == {"http://www.w3.org/2000/svg"}
    # Without scripts there is nothing to filter with: a plain table.
    assert ("hidden", "") in found.attributes
    assert "url(" not in site(tmp_path) and "@import" not in site(tmp_path)


def test_what_others_wrote_is_shown_and_never_obeyed(workspace: Workspace, tmp_path: Path) -> None:
    evil = subject(EVIL, EVIL.replace("/", "")).model_copy(
        update={"packages": tuple(p.model_copy(update={"version": EVIL}) for p in BASE.packages)}
    )
    found = [*runs(BASE, [2.0] * 7, name=EVIL), *runs(evil, [5.0] * 7, name=EVIL)]
    found += [*runs(BASE, [2.0] * 7, name=GEMM), *runs(evil, [5.0] * 7, name=GEMM)]
    machine = WITH_PEAK.model_copy(update={"cpu": EVIL, "kernel": EVIL})
    one = result(found, BASE, evil, machine=machine, remarks=(EVIL,))
    store.write(replace(workspace, root=tmp_path), one)
    command.publish(replace(workspace, root=tmp_path))
    seen = Reader(site(tmp_path))
    assert seen.tags.count("script") == 1 and seen.tags.count("style") == 1
    assert EVIL in seen.text
    written = timings(tmp_path)
    assert "<script>" not in written and "`x`" not in written.replace("\\`", "")
    (line,) = [line for line in written.splitlines() if "5 GFLOP/s" in line and "2000" in line]
    assert line.replace("\\|", "").count("|") == 10
    assert not [line for line in written.splitlines() if line.startswith("# [a]")]


def test_without_results_it_says_what_to_run(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no results to publish\n  fix: .*\./invoke bench"):
        command.publish(replace(workspace, root=tmp_path))
    assert not (tmp_path / "site").exists()
    command.check(replace(workspace, root=tmp_path))


def test_what_cannot_be_read_is_named_and_left_out(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = keep(workspace, tmp_path)
    (good.parent / "cut.json").write_text(good.read_text()[:99])
    other = WITH_PEAK.model_copy(update={"cpu": "Elsewhere"})
    keep(workspace, tmp_path, machine=other, began="2026-11-22T05:30:00Z")
    with pytest.raises(UsageError, match="published without 2 of 3 results") as raised:
        command.publish(replace(workspace, root=tmp_path))
    assert raised.value.exit_code == 2
    said = capsys.readouterr().err
    assert "cut.json: not whole" in said and "of another machine than the first" in said
    assert "2.50 (2.50 - 2.50)" in timings(tmp_path)
    assert "Elsewhere" not in timings(tmp_path) + site(tmp_path)


def test_stale_is_what_the_results_no_longer_give(workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, tmp_path)
    with pytest.raises(StaleError, match=r"timings\.md, .*index\.html: not what results/ gives"):
        command.check(replace(workspace, root=tmp_path))
    command.publish(replace(workspace, root=tmp_path))
    command.check(replace(workspace, root=tmp_path))
    later = keep(workspace, tmp_path, began="2026-11-22T05:30:00Z")
    with pytest.raises(StaleError, match=r"fix: .*\./invoke publish"):
        command.check(replace(workspace, root=tmp_path))
    later.unlink()
    (tmp_path / "site/index.html").write_text(site(tmp_path) + " ")
    with pytest.raises(StaleError, match=r"index\.html: not what"):
        command.check(replace(workspace, root=tmp_path))
    for path in (tmp_path / "results").rglob("*.json"):
        path.unlink()
    with pytest.raises(StaleError, match="take these files away"):
        command.check(replace(workspace, root=tmp_path))


def test_of_the_same_on_a_machine_the_last_is_published(
    workspace: Workspace, tmp_path: Path
) -> None:
    keep(workspace, tmp_path)
    keep(workspace, tmp_path, began="2026-11-23T05:30:00Z")
    keep(workspace, tmp_path, began="2026-11-22T05:30:00Z", settings=_settings(workloads=("ntm",)))
    assert [one.result.began for one in read(workspace, tmp_path)] == [
        "2026-11-23T05:30:00Z",
        "2026-11-22T05:30:00Z",
    ]


def test_products_are_drawn_against_the_peak(workspace: Workspace, tmp_path: Path) -> None:
    small = "Gemm float64 500"
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(BASE, [9.0] * 7, name=small)]
    store.write(replace(workspace, root=tmp_path), result(found, BASE, machine=WITH_PEAK))
    (session,) = read(workspace, tmp_path)
    (plot,) = plots.plots(session)
    assert plot.words == (
        "Matrix product, float64, 2000 x 2000, 2 threads, theano-1.0.5 (GFLOP/s and part of the "
        "measured peak, more is better; lines are quartiles): "
        "base 2 GFLOP/s, 20%; measured peak 10.0 GFLOP/s"
    )
    assert plot.svg.count("<rect") == 2 + 2


def test_compiling_is_drawn_before_the_calls(workspace: Workspace, tmp_path: Path) -> None:
    slow = runs(BASE, [0.1] * 7, name="lstm merged", unit="s", compile=5.0)
    fast = runs(FAST, [0.02] * 7, name="lstm merged", unit="s", compile=4.0)
    store.write(replace(workspace, root=tmp_path), result([*slow, *fast], BASE, FAST))
    (plot,) = plots.plots(read(workspace, tmp_path)[0])
    assert plot.words == (
        "lstm merged: compiling and 100 calls, 2 threads, theano-1.0.5 (seconds of compiling, its "
        "C code being cached, and then of the calls; less is better): "
        "base 5 + 10.0 s (compiling 5, 100 calls 10.0); fast 4 + 2 s (compiling 4, 100 calls 2)"
    )
    widths = [
        float(one["width"])
        for one in map(dict, Reader(plot.svg).elements)
        if one.get("class", "").startswith("rect ")
    ]
    fast_first, slow_first, fast_rest, slow_rest = widths
    assert slow_rest / slow_first == pytest.approx(2, rel=0.01)
    assert fast_rest / fast_first == pytest.approx(0.5, rel=0.01)
    assert slow_first / fast_first == pytest.approx(1.25, rel=0.01)


def test_a_machine_whose_peak_is_not_known(workspace: Workspace, tmp_path: Path) -> None:
    keep(workspace, tmp_path, machine=MACHINE)
    (plot,) = plots.plots(read(workspace, tmp_path)[0])
    assert [bar.text for bar in plot.bars] == ["2 GFLOP/s", "5 GFLOP/s"]


def test_the_articles_steps_stand_beside_ours(workspace: Workspace, tmp_path: Path) -> None:
    three = [subject(name, baseline=name == "pip-default") for name in article.ARTICLE]
    found = [
        run
        for one, seconds in zip(three, (0.4, 0.2, 0.1), strict=True)
        for run in runs(one, [seconds] * 7, name="ntm step", unit="s")
    ]
    store.write(replace(workspace, root=tmp_path), result(found, *three))
    (ours,) = article.ours(read(workspace, tmp_path))
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
    command.publish(replace(workspace, root=tmp_path))
    for text in (timings(tmp_path), Reader(site(tmp_path)).text):
        assert "0.883" in text and "0.876" in text and "0.250" in text
        assert "ran each once, on a machine that it does not name" in text


def test_without_the_first_step_there_is_nothing_to_set_beside(
    workspace: Workspace, tmp_path: Path
) -> None:
    two = [subject("mkl"), subject("mkl-amdlibm")]
    found = [run for one in two for run in runs(one, [0.1] * 7, name="ntm step", unit="s")]
    store.write(replace(workspace, root=tmp_path), result(found, *two))
    assert article.ours(read(workspace, tmp_path)) == []
    assert article.ABOUT[:20] not in markdown.document(read(workspace, tmp_path))
    assert article.ABOUT[:20] not in Reader(page.document(read(workspace, tmp_path))).text


def test_a_ratio_of_another_graph_is_told(workspace: Workspace, tmp_path: Path) -> None:
    found = [*runs(BASE, [2.0] * 7, graph="one"), *runs(FAST, [5.0] * 7, graph="two")]
    found += runs(OTHER, [5.0] * 7, graph="one")
    store.write(replace(workspace, root=tmp_path), result(found, BASE, FAST, OTHER))
    (session,) = read(workspace, tmp_path)
    assert [figure.reference for figure in session.figures[1:]] == ["base, another graph", "base"]


def test_a_step_of_another_graph_is_told(workspace: Workspace, tmp_path: Path) -> None:
    first, second = subject("pip-default", baseline=True), subject("mkl")
    slow = runs(first, [0.4] * 7, name="ntm step", unit="s", graph="one")
    fast = runs(second, [0.2] * 7, name="ntm step", unit="s", graph="two")
    store.write(replace(workspace, root=tmp_path), result([*slow, *fast], first, second))
    (ours,) = article.ours(read(workspace, tmp_path))
    assert [step.interval for step in ours.steps] == ["", "another graph"]
    assert "| mkl | 20.0 | 0.500 | another graph |" in markdown.document(read(workspace, tmp_path))


def test_the_committed_ones_are_current(workspace: Workspace) -> None:
    command.check(workspace)
