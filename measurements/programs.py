"""The table of programs in measurements/README.md: those of examples/, by flavour and linker.

    .venv/bin/python measurements/programs.py [--rounds 3] [--only pymc-5.28,lasagne-0.1] [--store]

Makes a stack.yaml for each row below build/measurements, locks and builds it; that needs the
network, some 5 GB of disk and a quarter of an hour. Then each row has a first start, with an empty
folder of compiled modules, and one second start in each round, rows in turn. The table has the time
of day, so it needs a machine that does nothing else. A step's or draw's time is from all starts:
nothing is compiled then. --store writes those of PyMC 6 into results/samplers.json.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from harness import REPOSITORY, options

from stacks.bench.candidates import Candidate
from stacks.bench.user_program import ProgramRun, run_once
from stacks.channel.settings_files import MODULES_VARIABLE
from stacks.core.disk import write_atomically
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import build
from stacks.profiles.run import ProgramError
from stacks.timings import beside
from stacks.variants import stack
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from verify.core import machine

# The baseline first. The models have no large product, so the choice of OpenBLAS stands for all.
FLAVOURS = ("pip-default", "openblas", "openblas-amdlibm")
# The example whose samplers are published, and what they sample.
SAMPLERS, PROGRAM = "pymc-6.4-nutpie", "PyMC 6.4.0, a regression with 3 parameters"
# What nutpie draws between two marks: two chains of 500 draws, after as many to tune.
NUTPIE_DRAWS = 2000


@dataclass(frozen=True)
class Row:
    """A line of the table.

    example: whose stack.yaml it is. how: what runs the graph, for people. flags: more of the
    framework's. program: if it is not the example's own. per_mark: steps or draws from each mark to
    the next.
    """

    example: str
    flavour: str
    how: str
    flags: str = ""
    program: str = ""
    arguments: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    per_mark: int = 1

    @property
    def command(self) -> list[str]:
        """The command line of the program."""
        path = REPOSITORY / "examples" / (self.program or self.example)
        own = sorted(path.glob("*.py")) if path.is_dir() else [path]
        notebook = [REPOSITORY / "measurements/notebook.py", *path.glob("*.ipynb")]
        return ["python", *map(str, own or notebook), "--marks", *self.arguments]


def nutpie(flavour: str, backend: str, packages: tuple[str, ...] = ()) -> Row:
    """Return a row of PyMC 6 with nutpie."""
    how, arguments = f"nutpie, {backend.replace('jax', 'JAX')}", ("--backend", backend)
    return Row("pymc-6.4-nutpie", flavour, how, "", "", arguments, packages, NUTPIE_DRAWS)


# Their frameworks compile to C only.
NETWORKS, MODELS = ("keras-2.3", "lasagne-0.1", "notebook"), ("pymc3-3.11", "pymc-4.4")
PYMC = "pymc-5.28/sample.py"
ROWS = (
    *(Row(each, flavour, "C") for each in NETWORKS for flavour in (*FLAVOURS, "blis", "mkl")),
    *(Row(each, flavour, "C") for each in MODELS for flavour in FLAVOURS),
    # PyTensor does not compile AMD's libm.
    *(Row("pymc-5.28", flavour, "C") for flavour in FLAVOURS[:2]),
    Row("pymc-5.28", "openblas", "numba", "mode=NUMBA"),
    Row("pymc-5.28", "openblas", "JAX", "mode=JAX", packages=("jax",)),
    *(nutpie(flavour, "numba") for flavour in FLAVOURS[:2]),
    nutpie("openblas", "jax", ("jax",)),
    Row("pymc-6.4-nutpie", "openblas", "PyMC, C", "linker=cvm", PYMC),
    Row("pymc-6.4-nutpie", "openblas", "PyMC, numba", "mode=NUMBA", PYMC),
    Row("pymc-6.4-nutpie", "openblas", "PyMC, JAX", "mode=JAX", PYMC, packages=("jax",)),
)


def main() -> None:
    """Build, measure example by example, print the table and why a row has no figures."""
    parser = options(__doc__, rounds=3)
    parser.add_argument("--only", default="", help="only these examples, by commas")
    parser.add_argument("--store", action="store_true", help="write results/samplers.json")
    arguments, workspace = parser.parse_args(), default_workspace()
    if arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    only = arguments.only.split(",") if arguments.only else [row.example for row in ROWS]
    built = {row: candidate(workspace, row) for row in ROWS if row.example in only}
    print("| program | flavour | runs on | first step | second start | step or draw | ratio |")
    print("|---|---|---|---|---|---|---|")
    for example in dict.fromkeys(row.example for row in built):
        chosen = {row: found for row, found in built.items() if row.example == example}
        measured = list(figures(measure(chosen, arguments.rounds)))
        print("\n".join(lines(measured)), flush=True)
        if arguments.store and example == SAMPLERS:
            store_samplers(workspace, measured)


def candidate(workspace: Workspace, row: Row) -> Candidate:
    """Return a row's environment, locked and built if it is not."""
    own = stack.read(REPOSITORY / "examples" / row.example / stack.NAME)
    packages = [*own.requests, *row.packages]
    name = "-".join((row.example, row.flavour, *row.packages))
    folder = workspace.build / "measurements" / "programs" / name
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "summary": name,
        "extends": row.flavour,
        "framework": own.content.framework,
        "pip": packages,
    }
    # JSON is YAML.
    (folder / stack.NAME).write_text(json.dumps(content, indent=1) + "\n")
    variant = load_variant(workspace, str(folder))
    if not (folder / "stack.lock").is_dir():
        build.relock(workspace, variant)
    place = build.make_environment(workspace, variant)
    return Candidate(variant, place, build.read_lock(workspace, variant), None)


def measure(rows: dict[Row, Candidate], rounds: int) -> dict[Row, list[ProgramRun]]:
    """Return the starts of each row; one whose program fails is named, and left out."""
    starts: dict[Row, list[ProgramRun]] = {row: [] for row in rows}
    with tempfile.TemporaryDirectory(prefix="modules-") as folder:
        for number, (place, row) in itertools.product(range(rounds + 1), enumerate(rows)):
            if row not in starts:
                continue
            try:
                with settings(row, rows[row].variant, Path(folder, str(place))):
                    run = run_once(rows[row], row.command)
            except ProgramError as error:
                print(f"{row.example}, {row.flavour}, {row.how}: {error}", file=sys.stderr)
                del starts[row]
                continue
            starts[row].append(run)
            title = f"round {number}: {row.example}, {row.flavour}, {row.how}"
            print(
                f"  {title}: first step after {run.first_step:.1f} s", file=sys.stderr, flush=True
            )
    return starts


@contextmanager
def settings(row: Row, variant: Variant, compiled: Path) -> Iterator[None]:
    """Set the row's flags, and its folder of compiled modules, which it shares with no other."""
    flags = ",".join(filter(None, (f"base_compiledir={compiled}", row.flags)))
    more = {variant.framework.flags_variable: flags, MODULES_VARIABLE: "0"}
    with mock.patch.dict(os.environ, more):
        yield


def figures(starts: dict[Row, list[ProgramRun]]) -> Iterator[tuple[Row, float, float, float]]:
    """Yield each row's seconds: to the first mark, the same once all is compiled, of a step."""
    for row, (first, *later) in starts.items():
        step = statistics.median(run.step or 0.0 for run in (first, *later)) / row.per_mark
        second = statistics.median(run.first_step or 0.0 for run in later)
        yield row, first.first_step or 0.0, second, step


def lines(measured: list[tuple[Row, float, float, float]]) -> Iterator[str]:
    """Yield the rows of an example in Markdown; ratios are to the first, its baseline."""
    for row, first, second, step in measured:
        yield (
            f"| {row.example} | `{row.flavour}` | {row.how} | {first:.1f} s "
            f"| {second:.1f} s | {1e3 * step:.3f} ms | {measured[0][3] / step:.2f} |"
        )


def store_samplers(workspace: Workspace, measured: list[tuple[Row, float, float, float]]) -> None:
    """Write the figures of PyMC 6's samplers for `./invoke publish`."""
    found = beside.Samplers(
        program=PROGRAM,
        environment="pytensor-3.3.7/openblas",
        cpu=machine.described({})["cpu"],
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        samplers=tuple(
            beside.Sampler(name=row.how, first=first, second=second, draw=draw)
            for row, first, second, draw in measured
            if row.flavour == "openblas"
        ),
    )
    text = found.model_dump_json(indent=1)
    write_atomically(workspace.results / beside.SAMPLERS.pattern, text + "\n")


if __name__ == "__main__":
    main()
