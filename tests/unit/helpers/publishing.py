"""Results below a root, and what is published of them."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.result import MeasuredPackage, Peak, Run, Settings, Subject
from stacks.core.workspace import Workspace
from stacks.timings.survey import view
from stacks.timings.view import CurrentLock, View
from unit.helpers.benching import BASE, FAST, MACHINE, beside_loops, result, runs, subject

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


FRAMEWORKS = (
    *("aesara-2.8.7", "pytensor-2.38.3", "pytensor-3.3.7"),
    *("theano-0.8.2", "theano-1.0.5", "theano-pymc-1.1.2"),
)
FLAVOURS = (
    *("pip-default", "pip-openblas", "blis", "mkl"),
    *("mkl-amdlibm", "openblas", "openblas-amdlibm"),
)
# What `bench --all --quick` times: {measure: its unit}.
MEASURES = {
    **{f"Gemm {dtype} 2000": "GFLOP/s" for dtype in ("float32", "float64")},
    **{f"check_blas {size}": "s" for size in ("2000", "2000 float32", "5000", "5000 float32")},
    **{f"{name} float32 400x512": "ns" for name in ("exp", "tanh")},
    **{f"{name} step": "s" for name in ("logreg", "mlp", "lenet")},
    "lstm merged": "s",
}


def campaign(root: Path) -> None:
    """Write what `bench --all` gives on a machine: 42 environments, idle and beside busy loops."""
    packages = tuple(
        MeasuredPackage(name=f"package-number-{n}", version="1.22.4", sha256="b" * 64)
        for n in range(30)
    )
    for number, framework in enumerate(FRAMEWORKS):
        of = [
            subject(flavour, framework, baseline=flavour == "pip-default").model_copy(
                update={"packages": packages}
            )
            for flavour in FLAVOURS
        ]
        for busy in (0, 2):
            found = [
                run
                for nth, each in enumerate(of)
                for name, unit in MEASURES.items()
                if not busy or name.endswith(("step", "merged"))
                for run in _turns(each, name, unit, 1.0 + nth)
            ]
            one = result(
                beside_loops(found, busy),
                *of,
                machine=WITH_PEAK,
                began=f"2026-11-2{number}T0{busy}:30:00Z",
                settings=settings(busy=busy),
                remarks=("other programs were busy in 3 of 700 measurements",) * bool(busy),
            )
            store.write(at(root), one)


def _turns(of: Subject, name: str, unit: str, speed: float) -> list[Run]:
    value = speed if unit == "GFLOP/s" else 1 / speed
    is_program = name.endswith(("step", "merged"))
    return runs(of, [value] * 7, name=name, unit=unit, **({"compile": 5.0} if is_program else {}))


def settings(**more: Any) -> Settings:
    one = result(runs(BASE, [1.0]), BASE).settings
    return one.model_copy(update=more)
