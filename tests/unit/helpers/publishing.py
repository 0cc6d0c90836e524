"""Results below a root, and what is published of them."""

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.result import Peak, Settings
from stacks.core.workspace import Workspace
from stacks.timings.survey import view
from stacks.timings.view import CurrentLock, View
from unit.helpers.benching import BASE, FAST, MACHINE, result, runs

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


def at(root: Path) -> Workspace:
    return Workspace(root, root / "cache")


def keep(root: Path, **more: Any) -> Path:
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(FAST, [5.0] * 7, name=GEMM)]
    one = result(found, BASE, FAST, **{"machine": WITH_PEAK, **more})
    return store.write(at(root), one)


def read(root: Path, current: Mapping[str, CurrentLock] | None = None) -> View:
    return view(store.read_all(at(root))[0], current or {})


def site(root: Path) -> str:
    return (root / "site/index.html").read_text()


def timings(root: Path) -> str:
    return (root / "docs/timings.md").read_text()


def settings(**more: Any) -> Settings:
    one = result(runs(BASE, [1.0]), BASE).settings
    return one.model_copy(update=more)
