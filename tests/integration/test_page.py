"""The published page in a real browser, opened as a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.browser import Browser, browser
from integration.page_results import EVIL, a_result, programs
from stacks.bench import store
from stacks.core.workspace import Workspace
from stacks.timings import command

CELLS = "[...document.querySelectorAll('#timings tbody tr')].filter(r => !r.hidden)"
LONGEST = "theano-1.0.5 (older lock)openblas-amdlibm-longest"
ENTER, TAB = "\ue007", "\ue004"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("published")
    workspace = Workspace(root, root / "cache")
    for result in (
        a_result("first", {"base": 9.0, "openblas-amdlibm-longest": 100.0}),
        a_result("second", {"base": 20.0, "slow": 3.0}),
        programs("third", {"base": 800.0, "fast": 500.0}),
        programs("third", {"base": 1000.0, "fast": 700.0}, busy=2),
    ):
        store.write(workspace, result)
    command.publish(workspace)
    return root / "site/index.html"


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Browser]:
    with browser(width=390) as opened:
        opened.open(site)
        yield opened


def medians(page: Browser) -> list[str]:
    texts: list[str] = page.run(f"return {CELLS}.map(row => row.cells[6].textContent.trim())")
    return texts


def choose(page: Browser, **filters: str) -> str:
    """Choose in the filters, and return the text of their count."""
    for name, value in filters.items():
        page.run(
            f"const field = document.querySelector('select[name={name}]'); field.value = '{value}';"
            "field.dispatchEvent(new Event('change', {bubbles: true}))"
        )
    count: str = page.run("return document.getElementById('count').textContent")
    return count


def reset(page: Browser) -> None:
    page.run("document.querySelector('button[type=reset]').focus()")
    page.press(ENTER)


def visible(page: Browser, selector: str) -> list[str]:
    """Return the texts of the elements that a reader sees or can open."""
    texts: list[str] = page.run(
        f"return [...document.querySelectorAll('{selector}')]"
        ".filter(e => !e.closest('[hidden]')).map(e => e.textContent.trim())"
    )
    return texts


def test_sorting_by_numbers_with_the_keyboard(page: Browser) -> None:
    page.run("document.querySelector('details.all').open = true")
    head = "document.querySelectorAll('#timings thead th')[6]"
    page.run(f"{head}.firstChild.focus()")
    page.press(ENTER)
    rising = ["3 GFLOP/s", "6 GFLOP/s", "9 GFLOP/s", "18.0 GFLOP/s"]
    assert medians(page)[:4] == rising
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "ascending"
    page.press(ENTER)
    assert medians(page)[:2] == ["1000 s", "900 s"]
    assert medians(page)[-4:] == rising[::-1]
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "descending"
    page.press(TAB, ENTER)
    ratios = page.run(f"return {CELLS}.map(row => row.cells[7].textContent.trim().slice(0, 5))")
    assert ratios == ["0.15 ", "0.15 ", "1.43 ", "1.50 ", "1.60 ", "11.11", "11.11", *([""] * 7)]


def test_the_summary_is_sorted_too(page: Browser) -> None:
    head = "document.querySelectorAll('table.summary thead th')[3]"
    names = "table.summary tbody tr[data-flavour] th"
    assert visible(page, names)[:2] == ["theano-1.0.5 (older lock)base", LONGEST]
    page.run(f"{head}.firstChild.focus()")
    page.press(ENTER, ENTER)
    assert visible(page, names)[0] == LONGEST
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "descending"


def test_filters_and_their_count(page: Browser) -> None:
    everything = "6 environments, 14 figures"
    assert choose(page) == everything
    assert choose(page, machine="second", flavour="slow") == (
        "1 of 6 environments, 2 of 14 figures"
    )
    assert sorted(medians(page)) == ["3 GFLOP/s", "6 GFLOP/s"]
    # What was folded opens when its machine is chosen.
    assert page.run("return [...document.querySelectorAll('details.machine[open]')].length") == 1
    assert [text[:8] for text in visible(page, "details.session > summary")] == ["second, "]
    reset(page)
    assert choose(page, load="2 busy loops") == "6 environments, 2 of 14 figures"
    assert sorted(medians(page)) == ["1000 s", "700 s"]
    assert visible(page, "details.overview > summary") == [
        "ntm beside 2 busy loops: times as fast as pip-default"
    ]
    heads = visible(page, "table.summary thead th[data-load]")
    assert heads == ["beside 2 busy loopsntm"]
    reset(page)
    assert choose(page, workload="gemm", framework="theano-1.0.5").endswith("8 of 14 figures")
    reset(page)
    assert choose(page) == everything
    assert len(medians(page)) == 14


def test_every_control_is_reached_by_tab_and_shows_its_focus(site: Path) -> None:
    with browser(width=1280) as opened:
        opened.open(site)
        reached = []
        for _ in range(12):
            opened.press(TAB)
            reached.append(
                opened.run(
                    "const e = document.activeElement; const style = getComputedStyle(e);"
                    "return [e.name || e.textContent.trim().slice(0, 13), style.outlineStyle]"
                )
            )
        assert [name for name, _ in reached] == [
            *("Documentation", "How it is mea", "Dark mode", "How to read t"),
            *("machine", "framework", "flavour", "workload", "load", "Show all"),
            *("Gemm 2000, fl", "Gemm 2000, fl"),
        ]
        assert {outline for _, outline in reached} == {"solid"}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(site: Path, width: int) -> None:
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with browser(width=width) as opened:
        opened.open(site)
        assert opened.run("return innerWidth") == width
        assert opened.run(wide) == 0
        opened.run("for (const e of document.querySelectorAll('details')) e.open = true")
        assert opened.run(wide) == 0
        # Products in float32 and float64 of two machines; ntm's compilation and calls, once: its
        # parts beside busy loops are not drawn. Those of the summaries are six.
        assert opened.run("return document.querySelectorAll('.session figure').length") == 4 + 2
        assert opened.run("return document.querySelectorAll('.overview figure').length") == 7
        # A text longer than the room for it would be cut off at the plot's edge.
        within = (
            "return [...document.querySelectorAll('figure')].every(figure => {"
            "const room = figure.getBoundingClientRect();"
            "return [...figure.querySelectorAll('.bars span')].map(e => e.getBoundingClientRect())"
            ".every(text => text.left >= room.left && text.right <= room.right)})"
        )
        assert opened.run(within)


def test_labels_for_screen_readers(page: Browser) -> None:
    assert page.run("return [...document.querySelectorAll('table')].every(t => t.caption)")
    assert page.run("return [...document.querySelectorAll('th')].every(head => head.scope)")
    assert page.run("return [...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0)")
    bars = visible(page, ".session figure:first-of-type .bars li")
    assert bars[0].split() == ["base18.0", "GFLOP/s"]
    numbers = page.run("return [...document.querySelectorAll('.parts i')].map(e => e.textContent)")
    # Parts that have no room for it have no number.
    assert set(numbers) - {""} == {str(number) for number in range(1, 11)}
    assert page.run("return document.querySelectorAll('.keys .py').length") == 3
    # Plots whose bars have parts stand beside a table of these.
    assert page.run("return document.querySelectorAll('figure table').length") == 2


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
        _check_contrast(opened)
        paper = "return getComputedStyle(document.body).backgroundColor"
        pressed = "return document.getElementById('theme').getAttribute('aria-pressed')"
        before = opened.run(paper)
        assert opened.run(pressed) == str(dark).lower()
        opened.run("document.getElementById('theme').focus()")
        opened.press(ENTER)
        assert opened.run(pressed) == str(not dark).lower()
        assert opened.run(paper) != before
        _check_contrast(opened)
        # The choice outlives the page.
        opened.open(site)
        assert opened.run(paper) != before


def _check_contrast(opened: Browser) -> None:
    for place in ("body", "#count", "#timings thead button", ".bars span + span", "caption"):
        assert opened.run(CONTRAST.replace("PLACE", place)) >= 4.5, place
    fills = opened.run(FILLS)
    assert len(fills) == 10, "each part has a colour of its own"
    for fill in fills:
        part = CONTRAST.replace("PLACE", ".parts i").replace(PAPER, f"'{fill}'")
        assert opened.run(part) >= 4.5, fill


def test_without_scripts_all_is_there_but_the_controls(site: Path) -> None:
    with browser("--blink-settings=scriptEnabled=false") as opened:
        opened.open(site)
        assert opened.run("return document.getElementById('filters').checkVisibility()") is False
        assert opened.run("return document.getElementById('theme').checkVisibility()") is False
        assert opened.run("return document.querySelectorAll('thead button').length") == 0
        assert opened.run("return document.querySelector('table.summary').checkVisibility()")


FILLS = """
const parts = [...document.querySelectorAll('.parts i')];
return [...new Set(parts.map(part => getComputedStyle(part).backgroundColor))];
"""
PAPER = "getComputedStyle(document.body).backgroundColor"
CONTRAST = """
const light = (text) => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255);
  const linear = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ink = getComputedStyle(document.querySelector('PLACE')).color;
const paper = getComputedStyle(document.body).backgroundColor;
const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
return (high + 0.05) / (low + 0.05);
"""
