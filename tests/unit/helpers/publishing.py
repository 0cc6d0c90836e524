"""Results below a root, and what is published of them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.profile import Profile
from stacks.bench.result import Peak
from stacks.core.workspace import Workspace
from stacks.publish.sessions import ResultSession, sessions
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


def read(root: Path) -> list[ResultSession]:
    return sessions(store.read_all(at(root))[0])


def site(root: Path) -> str:
    return (root / "site/index.html").read_text()


def timings(root: Path) -> str:
    return (root / "docs/timings.md").read_text()


def profile(*rows: tuple[str, str, float], compile_seconds: float = 10.0) -> Profile:
    """Return a profile of ten calls: (class, implementation, seconds of all of them)."""
    stored = tuple({"name": n, "type": t, "seconds": s, "calls": 10} for n, t, s in rows)
    split = {"optimiser": 6.0, "validation": 2.0, "linker": 3.0, "import": 1.0, "modules": 0}
    return Profile.model_validate(
        {
            "calls": 10,
            "seconds": sum(seconds for *_, seconds in rows) + 0.05,
            "compile": {"total": compile_seconds, **split},
            "rows": stored,
            "rest": {"classes": 3, "seconds": 0.05, "calls": 30},
        }
    )


OVERHEAD = ("(scan's own overhead)", "", 0.5)
SLOW = profile(("Dot22", "Py", 5.0), ("Elemwise", "C", 4.0), OVERHEAD)
QUICK = profile(("Elemwise", "C", 4.0), ("Dot22", "C", 1.0), OVERHEAD)


def session(tmp_path: Path, **profiles: Profile | None) -> ResultSession:
    found: list[Any] = []
    for subject, seconds in ((BASE, 1.0), (FAST, 0.6)):
        more = {"profile": profiles.get(subject.flavour), "compile": 10.0}
        found += runs(subject, [seconds] * 7, name="ntm step", unit="s", **more)
    store.write(at(tmp_path), result(found, BASE, FAST))
    (one,) = sessions(store.read_all(at(tmp_path))[0])
    return one
