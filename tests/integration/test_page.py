"""The published page in a real browser, opened as a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.browser import Browser, browser
from stacks.bench import store
from stacks.bench.profile import Profile
from stacks.bench.result import (
    Machine,
    MeasuredPackage,
    Noise,
    Peak,
    Result,
    Run,
    Series,
    Settings,
    Subject,
)
from stacks.core.workspace import Workspace
from stacks.publish import command

EVIL = "<img src=http://198.51.100.1/ onerror=console.error(1)>"
CELLS = "[...document.querySelectorAll('#timings tbody tr')].filter(r => !r.hidden)"
ENTER, TAB = "\ue007", "\ue004"


def a_result(name: str, rates: dict[str, float]) -> Result:
    """Return a result: each variant's GFLOP/s, the same in each of seven rounds."""
    noise = Noise(load=0, others=0, steal=0, throttled=0, frequency=None)
    subjects = tuple(
        Subject(
            framework="theano-1.0.5",
            flavour=flavour,
            baseline=flavour == "base",
            lock="a" * 64,
            packages=(MeasuredPackage(name=EVIL, version="1", sha256="b" * 64),),
        )
        for flavour in rates
    )
    every = tuple(
        Run(
            subject=f"theano-1.0.5/{flavour}",
            workload="gemm",
            threads=2,
            round=number,
            seconds=1,
            noise=noise,
            series=(
                Series(name="Gemm float64 2000", unit="GFLOP/s", samples=(rate,)),
                Series(name="Gemm float32 2000", unit="GFLOP/s", samples=(2 * rate,)),
            ),
        )
        for number in range(1, 8)
        for flavour, rate in rates.items()
    )
    machine = Machine(
        name=name,
        cpu=EVIL,
        vendor="Someone",
        model="1 2 3",
        microcode="0x1",
        cores=2,
        memory=8 << 30,
        kernel="6.1",
        glibc="2.36",
        peak=(Peak(dtype="float64", threads=2, gflops=200.0),),
    )
    return Result(
        schema=1,
        began="2026-11-21T05:30:00Z",
        seconds=60,
        commit="c" * 40,
        changed=False,
        machine=machine,
        settings=Settings(
            workloads=("gemm",), rounds=7, threads=(2,), quick=True, pinned=True, quota=None
        ),
        subjects=subjects,
        runs=every,
        remarks=(EVIL,),
    )


def a_profile(seconds: float) -> Profile:
    """Return the profile of a call with as many parts as a plot can have."""
    kinds = [("A", "Py"), ("B", "C & Py"), *((f"C{n}", "C") for n in range(4)), ("P", "Py")]
    kinds += [("(scan's own overhead)", ""), ("(calling the function)", "")]
    one = seconds / (len(kinds) + 1)
    steps = {"optimiser": 60.0, "validation": 10.0, "linker": 30.0, "import": 10.0}
    return Profile.model_validate(
        {
            "calls": 1,
            "seconds": seconds,
            "compile": {"total": 100.0, "modules": 0, **steps},
            "rows": tuple({"name": n, "type": t, "seconds": one, "calls": 1} for n, t in kinds),
            "rest": {"classes": 1, "seconds": one, "calls": 1},
        }
    )


def programs(name: str, seconds: dict[str, float]) -> Result:
    """Return a result with each variant's seconds of a call of a program, and its profile."""
    result = a_result(name, seconds)
    of = {f"theano-1.0.5/{flavour}": value for flavour, value in seconds.items()}
    runs = tuple(
        run.model_copy(
            update={
                "series": (
                    Series(
                        name="ntm step",
                        unit="s",
                        samples=(of[run.subject],),
                        compile=100.0,
                        profile=a_profile(of[run.subject]),
                    ),
                )
            }
        )
        for run in result.runs
    )
    return result.model_copy(update={"runs": runs})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("published")
    workspace = Workspace(root, root / "cache")
    for result in (
        a_result("first", {"base": 9.0, "openblas-amdlibm-longest": 100.0}),
        a_result("second", {"base": 20.0, "slow": 3.0}),
        programs("third", {"base": 800.0, "fast": 500.0}),
    ):
        store.write(workspace, result)
    command.publish(workspace)
    return root / "site/index.html"


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Browser]:
    with browser(width=360) as opened:
        opened.open(site)
        yield opened


def medians(page: Browser) -> list[str]:
    texts: list[str] = page.run(f"return {CELLS}.map(row => row.cells[2].textContent)")
    return texts


def test_sorting_by_numbers_with_the_keyboard(page: Browser) -> None:
    head = "document.querySelectorAll('#timings thead th')[2]"
    page.run(f"{head}.firstChild.focus()")
    page.press(ENTER)
    rising = ["3 GFLOP/s", "6 GFLOP/s", "9 GFLOP/s", "18.0 GFLOP/s"]
    assert medians(page)[:4] == rising
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "ascending"
    page.press(ENTER)
    assert medians(page)[:2] == ["800 s", "500 s"]
    assert medians(page)[-4:] == rising[::-1]
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "descending"
    page.press(TAB, ENTER)
    ratios = page.run(f"return {CELLS}.map(row => row.cells[3].textContent.slice(0, 5))")
    assert ratios == ["0.15 ", "0.15 ", "1.60 ", "11.11", "11.11", *([""] * 5)]


def test_filters_and_their_count(page: Browser) -> None:
    for name, value in (("machine", "second"), ("variant", "slow")):
        page.run(
            f"const field = document.querySelector('select[name={name}]'); field.value = '{value}';"
            "field.dispatchEvent(new Event('change', {bubbles: true}))"
        )
    assert sorted(medians(page)) == ["3 GFLOP/s", "6 GFLOP/s"]
    assert page.run("return document.getElementById('count').textContent") == "2 of 10 figures"
    page.run("document.querySelector('button[type=reset]').focus()")
    page.press(ENTER)
    assert len(medians(page)) == 10


def test_the_page_fits_on_a_phone(page: Browser) -> None:
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.run("return innerWidth") == 360
    assert page.run(wide) == 0
    assert page.run("return document.querySelectorAll('figure svg').length") == 6
    # A text longer than the room for it would be cut off at the plot's edge.
    within = (
        "return [...document.querySelectorAll('figure svg')].every(svg => {"
        "const room = svg.getBoundingClientRect();"
        "return [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect())"
        ".every(text => text.left >= room.left && text.right <= room.right)})"
    )
    assert page.run(within)


def test_labels_for_screen_readers(page: Browser) -> None:
    assert page.run("return [...document.querySelectorAll('table')].every(t => t.caption)")
    assert page.run("return [...document.querySelectorAll('th')].every(head => head.scope)")
    words = page.run("return document.querySelector('figure [role=img]').ariaLabel")
    assert words.startswith("Matrix product, float32, 2000 x 2000, 2 threads, theano-1.0.5 (")
    numbers = page.run("return [...document.querySelectorAll('text.part')].map(t => t.textContent)")
    assert set(numbers) == {str(number) for number in range(1, 11)}
    assert page.run("return document.querySelectorAll('.keys .striped').length") == 3


def test_no_requests_and_no_console_messages(page: Browser, site: Path) -> None:
    assert page.run(f"return document.body.textContent.includes({EVIL!r})")
    assert page.run("return document.images.length") == 0
    assert page.console() == []
    assert set(page.requests()) == {site.as_uri()}


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_in_light_and_dark_mode(site: Path, dark: bool) -> None:
    with browser(f"--blink-settings=preferredColorScheme={0 if dark else 1}") as opened:
        opened.open(site)
        assert opened.run("return matchMedia('(prefers-color-scheme: dark)').matches") is dark
        for place in ("body", "#count", "#timings thead button", "figure svg text.value"):
            assert opened.run(CONTRAST.replace("PLACE", place)) >= 4.5, place
        fills = opened.run(FILLS)
        assert len(fills) == 10, "each part has a colour of its own"
        for fill in fills:
            part = CONTRAST.replace("PLACE", "figure svg text.part").replace(BAR, f"'{fill}'")
            assert opened.run(part) >= 4.5, fill


FILLS = """
const parts = [...document.querySelectorAll('figure svg rect[class*=part-]')];
return [...new Set(parts.map(part => getComputedStyle(part).fill))];
"""
BAR = "getComputedStyle(bar).fill"
CONTRAST = """
const light = (text) => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255);
  const linear = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const element = document.querySelector('PLACE');
const bar = document.querySelector('figure svg .own');
const inside = element.namespaceURI.endsWith('svg');
const ink = getComputedStyle(element)[inside ? 'fill' : 'color'];
const paper = inside ? getComputedStyle(bar).fill : getComputedStyle(document.body).backgroundColor;
const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
return (high + 0.05) / (low + 0.05);
"""
