"""Results below a root, and what is published of them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.profile import Profile
from stacks.bench.result import MeasuredPackage, Peak, Run, Settings, Subject
from stacks.core.workspace import Workspace
from stacks.timings.sessions import ResultSession, sessions
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
    for of, seconds in ((BASE, 1.0), (FAST, 0.6)):
        more = {"profile": profiles.get(of.flavour), "compile": 10.0}
        found += runs(of, [seconds] * 7, name="ntm step", unit="s", **more)
    store.write(at(tmp_path), result(found, BASE, FAST))
    (one,) = sessions(store.read_all(at(tmp_path))[0])
    return one


DTYPES = ("float32", "float64")
FRAMEWORKS = (
    *("aesara-2.8.7", "pytensor-2.38.3", "pytensor-3.3.7"),
    *("theano-0.8.2", "theano-1.0.5", "theano-pymc-1.1.2"),
)
FLAVOURS = (
    *("pip-default", "pip-openblas", "blis", "mkl"),
    *("mkl-amdlibm", "openblas", "openblas-amdlibm"),
)
PROGRAMS = (
    *("logreg step", "mlp step", "lenet step", "ntm step"),
    *("lstm merged", "lstm separate", "lstm tutorial"),
)
PRODUCTS = [f"Gemm {dtype} {size}" for dtype in DTYPES for size in (500, 1000, 2000, 4000)]
ELEMENTWISE = [
    f"{name} {dtype} {size}"
    for name in ("exp", "log", "tanh", "sigmoid", "softmax")
    for dtype in DTYPES
    for size in ("400x512", "1e7")
]
SETTINGS = Settings(
    workloads=("gemm", "elementwise", "check_blas", "logreg", "mlp", "lenet", "lstm", "ntm"),
    rounds=7,
    threads=(2,),
    quick=False,
    pinned=True,
    quota=None,
)
CLASSES = [(f"Class{n}", "Py" if n == 3 else "C", 10.0 - n) for n in range(12)]


def campaign(root: Path) -> None:
    """Write what `bench --all` gives on a machine: 40 environments, idle and beside busy loops."""
    workspace = at(root)
    subjects = [_subject(flavour, framework) for framework in FRAMEWORKS for flavour in FLAVOURS][
        :40
    ]
    for number, framework in enumerate(FRAMEWORKS):
        of = [one for one in subjects if one.framework == framework]
        for busy in (0, 2):
            found = [
                one
                for nth, each in enumerate(of)
                for one in _programs(each, nth) + ([] if busy else _computations(each, nth))
            ]
            settings = SETTINGS.model_copy(update={"busy": busy})
            one = result(
                beside_loops(found, busy),
                *of,
                machine=WITH_PEAK,
                began=f"2026-11-2{number}T0{busy}:30:00Z",
                settings=settings,
                remarks=("other programs were busy in 3 of 700 measurements",) * bool(busy),
            )
            store.write(workspace, one)


def _subject(flavour: str, framework: str) -> Subject:
    one = subject(flavour, framework, baseline=flavour == "pip-default")
    packages = tuple(
        MeasuredPackage(name=f"package-number-{n}", version="1.22.4", sha256="b" * 64)
        for n in range(30)
    )
    return one.model_copy(update={"packages": packages})


def _computations(of: Subject, nth: int) -> list[Run]:
    """Return the runs of products and elementwise operations; flavours differ by `nth`."""
    found: list[Run] = []
    for name in PRODUCTS:
        found += runs(of, [2.0 + nth + 0.01 * n for n in range(7)], name=name)
    for name in ELEMENTWISE:
        found += runs(of, [2.26 - 0.1 * nth] * 7, name=name, unit="ns")
    for size in (2000, 5000):
        for name in (f"check_blas {size}", f"check_blas {size} float32"):
            found += runs(of, [size**3 / 1e10 / (2 + nth)] * 7, name=name, unit="s")
    return found


def _programs(of: Subject, nth: int) -> list[Run]:
    one = profile(*CLASSES, OVERHEAD)
    return [
        run.model_copy(update={"start": 1, "workload": name.partition(" ")[0]})
        for name in PROGRAMS
        for run in runs(of, [0.1 / (1 + nth)] * 7, name=name, unit="s", compile=5.0, profile=one)
    ]
