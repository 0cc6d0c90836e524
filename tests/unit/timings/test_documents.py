"""The documents that are drawn from the view: table, picture and page."""

from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from stacks.bench import store
from stacks.timings import command, documents
from stacks.timings.view import CurrentLock
from unit.helpers.benching import BASE, FAST, missing, result, runs, subject
from unit.helpers.publishing import GEMM, WITH_PEAK, Reader, at, keep, read, settings, site, timings

EVIL = "<script>alert(1)</script>\"'>|`x` # [a](b) &lt; {{ 7*7 }} </style>"
SVG = "{http://www.w3.org/2000/svg}"


def observed(root: Path) -> str:
    return " ".join(Reader(site(root)).text.split())


def test_every_figure_has_its_machine_versions_and_sessions(tmp_path: Path) -> None:
    keep(tmp_path, remarks=("other programs were busy",), missing=(missing(FAST),))
    command.publish(at(tmp_path))
    for part in (
        "| theano-1.0.5/fast |  | **2.50** |",
        "Not measured: no campaign has timed one flavour of each framework",
        "All were built from older locks than this checkout's.",
    ):
        assert part in timings(tmp_path)
    assert "| theano-1.0.5/base |  | 2&nbsp;GFLOP/s |" in timings(tmp_path)
    page = observed(tmp_path)
    assert "theano-1.0.5fast5 GFLOP/s, 50%2.50 (2.50-2.50)" in page
    for part in (
        "numpy 1.22.4; lock " + "a" * 64,
        "Gemm float64 2000, 2 threads: fast is the fastest",
        "Commit " + "c" * 40,
        "other programs were busy",
        "ntm, numba, 2 threads: theano-1.0.5/fast had not compiled within 300 s",
        "7 rounds, turn by turn, few sizes (--quick), pinned to processors",
    ):
        assert part in page
    for text in (timings(tmp_path), page):
        assert "Here (Someone 1 2 3, microcode 0x1), 2 cores, 8 GiB, kernel 6.1, glibc 2.36" in text
    # Shares of it are in the page alone.
    assert "float64 on 2 threads 10.0 GFLOP/s" in page


def test_what_to_avoid_and_what_it_costs_is_said(tmp_path: Path) -> None:
    slow, new = subject("slow"), "pytensor-3.3.7"
    base, fast = subject("base", new, baseline=True), subject("slow", new)
    rates = {BASE: 2.0, slow: 1.0, base: 1.0, fast: 3.0}
    found = [run for one, rate in rates.items() for run in runs(one, [rate] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, *rates, machine=WITH_PEAK))
    command.publish(at(tmp_path))
    least = "0.50 (0.50-0.50), with 1 of 2 frameworks"
    assert f"- `slow` for large matrix products: {least}\n" in timings(tmp_path)
    assert "slow for large matrix products: theano-1.0.5 0.50 (0.50-0.50)" in observed(tmp_path)
    view = read(tmp_path, {BASE.id: CurrentLock("a" * 64, 80_400_000)})
    text = command.rendered(view, tmp_path)[tmp_path / "docs/timings.md"]
    assert "**Cost**: 80 to 80 MB of download" in text
    assert "| theano-1.0.5/base | 80 | 2&nbsp;GFLOP/s |" in text


def test_ratios_to_another_graph_and_older_figures_are_marked(tmp_path: Path) -> None:
    found = runs(BASE, [0.4] * 7, name="mlp step", unit="s", graph="one")
    found += runs(FAST, [0.2] * 7, name="mlp step", unit="s", graph="two")
    store.write(at(tmp_path), result(found, BASE, FAST))
    now = [one.model_copy(update={"lock": "f" * 64}) for one in (BASE, FAST)]
    found = [*runs(now[0], [2.0] * 7, name=GEMM), *runs(now[1], [5.0] * 7, name=GEMM)]
    newer = {"began": "2026-11-22T05:30:00Z", "settings": settings(workloads=("ntm",))}
    store.write(at(tmp_path), result(found, *now, **newer))
    command.publish(at(tmp_path))
    text = timings(tmp_path)
    assert "| theano-1.0.5/fast |  | **2.50** | 2.00\\*&dagger; |" in text
    assert "| small dense layers | `fast` | 2.00 (2.00-2.00)\\*&dagger; |" in text
    assert "&dagger; an older lock than the row's.\n" in text
    assert "2.00 (2.00-2.00)*†" in observed(tmp_path)


def test_frameworks_in_the_same_rounds_are_shown(tmp_path: Path) -> None:
    names = ("aesara-2.8.7", "pytensor-2.38.3", "theano-0.8.2")
    three = [subject("openblas", name) for name in names]
    found = [
        run
        for n, one in enumerate(three, 1)
        for name in ("mlp step", "mlp step, numba")
        for run in runs(one, [0.1 * n] * 7, name=name, unit="s")
    ]
    store.write(at(tmp_path), result(found, *three))
    command.publish(at(tmp_path))
    text = timings(tmp_path)
    assert "| environment | by | mlp step |" in text and "as fast as aesara-2.8.7/openblas" in text
    assert "| pytensor-2.38.3/openblas | numba | 200&nbsp;ms 0.50 (0.50-0.50) |" in text
    assert "pytensor-2.38.3/openblasnumbamlp step200 ms0.50 (0.50-0.50)" in observed(tmp_path)


def test_the_articles_steps_stand_beside_ours_in_one_line(tmp_path: Path) -> None:
    three = [subject(name, baseline=name == "pip-default") for name in (
        "pip-default", "mkl", "mkl-amdlibm"
    )]  # fmt: skip
    seconds = zip(three, (0.4, 0.2, 0.1), strict=True)
    found = [run for one, s in seconds for run in runs(one, [s] * 7, name="ntm step", unit="s")]
    store.write(at(tmp_path), result(found, *three))
    command.publish(at(tmp_path))
    (line,) = [line for line in timings(tmp_path).splitlines() if "neural Turing" in line]
    assert "55.9, 49.4, 49.0 s, so 1.13, 1.14 times as fast" in line
    assert "40.0, 20.0, 10.0 s, so 2.00 (2.00-2.00), 4.00 (4.00-4.00) times as fast" in line
    page = observed(tmp_path)
    assert "55.9 s, 49.4 s (1.13 times as fast), 49.0 s (1.14 times as fast)" in page
    assert "40.0 s, 20.0 s (2.00 times as fast, 2.00-2.00), 10.0 s" in page


def test_the_picture_has_the_answers_with_their_intervals(tmp_path: Path) -> None:
    rates = {BASE: [2.0] * 7, FAST: [1.0, 4.4, 5.0, 5.2, 5.4, 5.8, 6.0]}
    found = [run for one, values in rates.items() for run in runs(one, values, name=GEMM)]
    store.write(at(tmp_path), result(found, *rates))
    view = read(tmp_path)
    root = Tree.fromstring(documents.document(view))
    texts = [element.text for element in root.findall(f"{SVG}text")]
    assert texts[0] == "How many times as fast as pip-default, on Here (open: not clear)"
    assert texts[-3:] == ["large matrix products", "theano-1.0.5", "2.60  fast"]
    assert "theano-1.0.5 2.60 (0.50-3.00) with fast" in (root.findtext(f"{SVG}title") or "")
    (circle,) = root.findall(f"{SVG}circle")
    (whisker,) = [e for e in root.findall(f"{SVG}path") if e.get("class") == "interval"]
    low, high = whisker.attrib["d"].partition("H")[::2]
    start, end = float(low.split()[0][1:]), float(high.partition("M")[0])
    assert documents.LEFT <= start < float(circle.attrib["cx"]) < end
    assert end <= documents.WIDTH - documents.RIGHT
    styles = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in styles
    assert "://" not in documents.document(view).replace("http://www.w3.org/", "")
    assert documents.document(view).partition("</style>\n")[2].rstrip() in documents.page(view)


@pytest.mark.parametrize(("name", "has_table"), [(GEMM, True), ("another", False)])
def test_without_a_ratio_there_is_no_picture_and_without_a_column_no_table(
    tmp_path: Path, name: str, has_table: bool
) -> None:
    store.write(at(tmp_path), result(runs(BASE, [2.0] * 7, name=name), BASE))
    command.publish(at(tmp_path))
    assert not (tmp_path / "docs/timings.svg").exists() and "<svg" not in site(tmp_path)
    assert ("## Which flavour" in timings(tmp_path)) is has_table
    assert ("<script>" in site(tmp_path)) is has_table


def test_text_of_results_is_escaped(tmp_path: Path) -> None:
    evil = FAST.model_copy(
        update={"packages": tuple(p.model_copy(update={"version": EVIL}) for p in BASE.packages)}
    )
    found = [*runs(BASE, [2.0] * 7, name=EVIL), *runs(evil, [5.0] * 7, name=EVIL)]
    found += [*runs(BASE, [2.0] * 7, name=GEMM), *runs(evil, [5.0] * 7, name=GEMM)]
    machine = WITH_PEAK.model_copy(update={"cpu": EVIL, "kernel": EVIL})
    store.write(at(tmp_path), result(found, BASE, evil, machine=machine, remarks=(EVIL,)))
    command.publish(at(tmp_path))
    page = Reader(site(tmp_path))
    assert page.tags.count("script") == 1 and page.tags.count("style") == 2
    assert EVIL in page.text
    written = timings(tmp_path)
    assert "<script>" not in written and "`x`" not in written.replace("\\`", "")
    assert Tree.fromstring((tmp_path / "docs/timings.svg").read_text()).find(f"{SVG}script") is None
