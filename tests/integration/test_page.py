"""The published page in a real browser, opened as a file."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.helpers.benching import BASE, FAST, beside_loops, result, runs, subject
from unit.helpers.publishing import GEMM, WITH_PEAK, at, settings

from integration.browser import Browser, browser
from stacks.bench import store
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.project import documentation
from stacks.timings import command

EVIL = "<img src=http://198.51.100.1/ onerror=console.error(1)>"
LONGEST = subject("openblas-amdlibm-longest")
SLOW = subject("slow")
ROWS = "[aria-labelledby=all] tbody tr th"
WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
ENTER, TAB = "\ue007", "\ue004"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("published")
    machine = WITH_PEAK.model_copy(update={"cpu": EVIL})
    rates = {BASE: 9.0, LONGEST: 100.0, FAST: 12.0, SLOW: 3.0}
    products = [run for one, rate in rates.items() for run in runs(one, [rate] * 7, name=GEMM)]
    steps = [
        *runs(BASE, [0.8] * 7, name="ntm step", unit="s"),
        *runs(FAST, [0.5] * 7, name="ntm step", unit="s"),
    ]
    for number, (found, busy) in enumerate(((products, 0), (steps, 0), (beside_loops(steps), 2))):
        more = {"began": f"2026-11-2{number}T05:30:00Z", "remarks": (EVIL,), "machine": machine}
        more["settings"] = settings(busy=busy, workloads=(f"w{number}",))
        store.write(at(root), result(found, *rates, **more))
    other = WITH_PEAK.model_copy(update={"name": "second"})
    store.write(at(root), result(runs(BASE, [20.0] * 7, name=GEMM), BASE, machine=other))
    command.publish(at(root))
    return root / "site/index.html"


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Browser]:
    with browser(width=390) as opened:
        opened.open(site)
        yield opened


def choose(page: Browser, **filters: str) -> str:
    """Choose in the filters, and return the text of their count."""
    for name, value in filters.items():
        page.run(
            f"const field = document.querySelector('select[name={name}]'); field.value = '{value}';"
            "field.dispatchEvent(new Event('change', {bubbles: true}))"
        )
    count: str = page.run("return document.getElementById('count').textContent")
    return count


def visible(page: Browser, selector: str) -> list[str]:
    """Return the texts of the elements that a reader sees or can open."""
    texts: list[str] = page.run(
        f"return [...document.querySelectorAll('{selector}')]"
        ".filter(e => !e.closest('[hidden]')).map(e => e.textContent.trim())"
    )
    return [text.removeprefix("theano-1.0.5") for text in texts]


def test_sorting_by_numbers_with_the_keyboard(page: Browser) -> None:
    head = "document.querySelectorAll('[aria-labelledby=all] thead th')[2]"
    assert visible(page, ROWS) == ["base", "fast", LONGEST.flavour, "slow"]
    page.run(f"{head}.firstChild.focus()")
    page.press(ENTER)
    assert visible(page, ROWS) == ["slow", "base", "fast", LONGEST.flavour]
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "ascending"
    page.press(ENTER)
    assert visible(page, ROWS) == [LONGEST.flavour, "fast", "base", "slow"]
    assert page.run(f"return {head}.getAttribute('aria-sort')") == "descending"
    # Rows without a value stay at the bottom in both directions.
    page.press(TAB, ENTER)
    assert visible(page, ROWS)[:2] == ["fast", "base"]
    page.press(ENTER)
    assert visible(page, ROWS)[:2] == ["base", "fast"]


def test_filters_and_their_count(page: Browser) -> None:
    assert choose(page) == "4 environments"
    assert choose(page, flavour="slow") == "1 of 4 environments"
    assert visible(page, ROWS) == ["slow"]
    page.run("document.querySelector('button[type=reset]').focus()")
    page.press(ENTER)
    assert choose(page) == "4 environments"
    choose(page, load="2 busy loops")
    heads = visible(page, "details.machine thead th[data-load]")
    assert heads == ["beside 2 busy loopsntm"]
    page.press(ENTER)
    assert choose(page, framework="theano-1.0.5") == "4 environments"
    assert len(visible(page, "details.machine thead th[data-load]")) == 4


FOCUSED = """
const e = document.activeElement;
return [e.name || e.textContent.trim().slice(0, 13), getComputedStyle(e).outlineStyle];
"""


def test_every_control_is_reached_by_tab_and_shows_its_focus(site: Path) -> None:
    with browser(width=1280) as opened:
        opened.open(site)
        reached = []
        for _ in range(10):
            opened.press(TAB)
            reached.append(opened.run(FOCUSED))
        assert [name for name, _ in reached] == [
            *("Documentation", "How it is mea", "Dark mode", "Which flavour"),
            *("framework", "flavour", "load", "Show all", "The newest fi", "environment"),
        ]
        assert {outline for _, outline in reached} == {"solid"}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(site: Path, width: int) -> None:
    with browser(width=width) as opened:
        opened.open(site)
        assert opened.run("return innerWidth") == width
        assert opened.run(WIDE) == 0
        opened.run("for (const e of document.querySelectorAll('details')) e.open = true")
        assert opened.run(WIDE) == 0
        # The picture shrinks with the screen, and its texts stay within it.
        assert opened.run(
            "const all = document.querySelector('svg.answers').getBoundingClientRect();"
            "return all.width > 300 && [...document.querySelectorAll('svg.answers text')]"
            ".filter(e => !e.classList.contains('head')).map(e => e.getBoundingClientRect())"
            ".every(text => text.left >= all.left && text.right <= all.right)"
        )


def test_labels_for_screen_readers_no_requests_and_no_messages(page: Browser, site: Path) -> None:
    assert page.run("return [...document.querySelectorAll('table')].every(t => t.caption)")
    assert page.run("return [...document.querySelectorAll('th')].every(head => head.scope)")
    assert page.run("return [...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0)")
    title = page.run("return document.querySelector('svg.answers[role=img] > title').textContent")
    assert "large matrix products: theano-1.0.5 11.11 (11.11-11.11) with openblas-amd" in title
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
        # The choice outlives the page. The browser stores it some time after the key.
        for _ in range(20):
            opened.open(site)
            if opened.run(paper) != before:
                break
        assert opened.run(paper) != before


def _check_contrast(opened: Browser) -> None:
    colours = [("color", place) for place in ("body", "#count", "thead button", "caption", "a")]
    colours += [("fill", f".answers .{name}") for name in ("head", "scale", "kind", "name")]
    for property_, place in colours:
        contrast = CONTRAST.replace("PLACE", place).replace("PROPERTY", property_)
        assert opened.run(contrast) >= 4.5, place


def test_without_scripts_all_is_there_but_the_controls(site: Path) -> None:
    with browser("--blink-settings=scriptEnabled=false") as opened:
        opened.open(site)
        assert opened.run("return document.getElementById('filters').checkVisibility()") is False
        assert opened.run("return document.getElementById('theme').checkVisibility()") is False
        assert opened.run("return document.querySelectorAll('thead button').length") == 0
        shown = "return document.querySelector('[aria-labelledby=all] table').checkVisibility()"
        assert opened.run(shown)


CONTRAST = """
const light = (text) => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255);
  const linear = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ink = getComputedStyle(document.querySelector('PLACE')).PROPERTY;
const paper = getComputedStyle(document.body).backgroundColor;
const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
return (high + 0.05) / (low + 0.05);
"""


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def made(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "new"
    documentation.build_site(workspace, folder)
    return folder


def test_the_same_bytes_elsewhere_and_later(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a copy of the pages, with the files' times of today, in another folder and language."""
    root = tmp_path / "naïve cöpy"
    shutil.copytree(REPOSITORY / "docs", root / "docs", copy_function=shutil.copyfile)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md"):
        shutil.copyfile(REPOSITORY / name, root / name)
    for name in ("envs", "examples", "measurements", "recipes", "results", "verify"):
        (root / name).symlink_to(REPOSITORY / name)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    other = tmp_path / "other"
    umask = os.umask(0o077)
    try:
        documentation.build_site(Workspace(root, tmp_path / "cache"), other)
    finally:
        os.umask(umask)
    assert files(other) == files(made)
    texts = b"".join(files(made).values())
    assert str(REPOSITORY).encode() not in texts and str(made.parent).encode() not in texts
    # A page with a broken link changes nothing.
    (root / "docs/tutorial.md").write_text("# Tutorial\n\n[x](nosuch.md) [y](index.md#no-such)\n")
    with pytest.raises(StacksError, match=r"2 faults\n.*docs/tutorial\.md:3: .*nosuch\.md"):
        documentation.build_site(Workspace(root, tmp_path / "cache"), other)
    assert files(other) == files(made)


def test_no_page_is_wider_than_a_telephone_or_asks_other_hosts(made: Path) -> None:
    wide = []
    with browser(width=390) as page:
        for path in sorted(made.rglob("*.html")):
            page.open(path)
            # The page of timings, which the site offers as a file, has a test of its own.
            if "_downloads" not in path.parts and page.run(WIDE):
                wide.append(path.name)
        assert wide == []
        # Chromium does not let the search read pages, for its excerpts, where these are files.
        page.console()
        page.open(made / "tutorial.html")
        assert {request.partition(":")[0] for request in page.requests()} == {"file"}
        assert page.console() == []
