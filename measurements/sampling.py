"""Time PyMC's sampling: threads chosen by libblas_threads, one thread each, and pip's libraries.

    .venv/bin/python measurements/sampling.py STACK[,STACK of pip-default] ... [--models gp:150,...]
        [--ways chosen,pip] [--chains 2] [--draws 60] [--sampler nutpie] [--rounds N] [--busy N]
        [--limit SECONDS] [--store]

A STACK is the folder of a built stack.yaml with PyMC 3 to 6, such as examples/pymc-5.28. Models:
gp, a Gaussian process of so many points; regression, hierarchical with so many rows; lkj, a normal
distribution of five dimensions with an LKJ prior. In a round the ways follow each other, beside
--busy endless loops. A first start, which compiles, is not counted. Prints the seconds in
`pm.sample` of each start, and the mean of a parameter, by which one sees the same posterior.
--store writes the seconds into results/sampling.json for `./invoke publish`: of one model, with the
ways chosen, one and pip.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness import endless_loops, in_turn, options, run

VERSION = """
from importlib.util import find_spec
pm = __import__("pymc3" if find_spec("pymc3") else "pymc")
print("PyMC", pm.__version__)
"""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main() -> None:
    """Print a line for each model, stack and way."""
    parser = options(__doc__, rounds=5, busy=True)
    parser.add_argument("stacks", nargs="+", metavar="STACK[,PIP]")
    parser.add_argument("--models", default="gp:150,regression:1000,lkj:200")
    parser.add_argument("--ways", default="chosen,one,pip,pip-one")
    parser.add_argument("--chains", default="2")
    parser.add_argument("--draws", default="60", help="of each chain, after as many to tune")
    parser.add_argument("--sampler", default="pymc")
    parser.add_argument("--limit", type=float, default=150, help="seconds of a start")
    parser.add_argument("--store", action="store_true", help="write results/sampling.json")
    arguments = parser.parse_args()
    if arguments.store and (arguments.models.count(":") != 1 or arguments.ways != "chosen,one,pip"):
        parser.error("--store: takes one model, and --ways chosen,one,pip")
    command = [__file__, "--sample", arguments.chains, arguments.draws, arguments.sampler]
    ways, samplings = arguments.ways.split(","), []
    with endless_loops(arguments.busy):
        for stack in arguments.stacks:
            own, _, pip = stack.partition(",")
            for model in arguments.models.split(","):

                def start(
                    way: str,
                    limit: float | None = arguments.limit,
                    own: str = own,
                    pip: str = pip,
                    model: str = model,
                ) -> Start:
                    python = python_of(pip if way.startswith("pip") else own)
                    variables = ONE_THREAD if way.endswith("one") else {}
                    return sample([python, *command, model], variables, limit)

                # Two threads may not end: what is compiled, one thread compiles. Without a limit:
                # what it does not compile, a start that is counted would.
                for way in sorted({"pip-one" if way.startswith("pip") else "one" for way in ways}):
                    start(way, limit=None)
                found = in_turn(arguments.rounds, ways, start)
                for way, starts in found.items():
                    texts = "; ".join(each.text for each in starts)
                    print(f"{Path(own).name} {model:16} {way:8} {texts}", flush=True)
                samplings.append((own, {way: seconds_of(each) for way, each in found.items()}))
    if arguments.store:
        store(samplings, arguments)


def python_of(stack: str) -> str:
    """Return the Python of a built stack."""
    return str(Path(stack) / "stack.build/environment/bin/python")


@dataclass(frozen=True)
class Start:
    """How a start ended, for people; seconds: None if it was longer than the limit."""

    text: str
    seconds: float | None


def sample(command: list[str], variables: dict[str, str], limit: float | None) -> Start:
    """Return a start's seconds and mean; its chains are ended with it, at the limit or ctrl-C."""
    program = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return Start(f"more than {limit:.0f}", None)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    if program.returncode:
        sys.exit(f"{' '.join(command)}: exit status {program.returncode}")
    text = output.splitlines()[-1]
    return Start(text, float(text.split()[0]))


def seconds_of(starts: list[Start]) -> tuple[float | None, ...]:
    """Return the seconds of each start."""
    return tuple(each.seconds for each in starts)


def ended(seconds: tuple[float | None, ...]) -> tuple[float, ...]:
    """Return the seconds of starts that all ended; only pip's may take longer than the limit."""
    found = tuple(each for each in seconds if each is not None)
    if found != seconds:
        sys.exit("nothing is stored: a start with the environment's library took too long")
    return found


def store(
    samplings: list[tuple[str, dict[str, tuple[float | None, ...]]]], arguments: Namespace
) -> None:
    """Write the seconds in PyMC's `sample`; the program and framework are the environment's.

    Other programs of the same day, machine and settings stay in the file.
    """
    from stacks.core.disk import write_atomically
    from stacks.core.workspace import default_workspace
    from stacks.environments.make.build import read_lock
    from stacks.timings import beside, view
    from stacks.variants.load import load_variant
    from verify.core import machine

    workspace = default_workspace()
    kind, size = arguments.models.split(":")
    found = beside.Sampling(
        model=TEXTS[kind].format(size),
        chains=int(arguments.chains),
        draws=int(arguments.draws),
        limit=arguments.limit,
        cores=len(os.sched_getaffinity(0)),
        cpu=machine.described({})["cpu"],
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        programs=tuple(
            beside.Program(
                name=run([python_of(stack), "-c", VERSION]).strip(),
                framework=(variant := load_variant(workspace, stack)).framework.name,
                library=next(
                    each.sha256
                    for each in read_lock(workspace, variant).packages
                    if each.name == view.LIBRARY
                ),
                chosen=ended(ways["chosen"]),
                one=ended(ways["one"]),
                pip=ways["pip"],
            )
            for stack, ways in samplings
        ),
    )
    names = {program.name for program in found.programs}
    for earlier in beside.SAMPLINGS.read_all(workspace)[0]:
        if earlier.model_copy(update={"programs": found.programs}) == found:
            others = tuple(each for each in earlier.programs if each.name not in names)
            found = found.model_copy(update={"programs": found.programs + others})
    text = found.model_dump_json(indent=1)
    write_atomically(workspace.results / beside.SAMPLINGS.pattern, text + "\n")


def in_environment(chains: str, draws: str, sampler: str, model: str) -> None:
    """Sample a model in the Python of a stack; print seconds and a mean."""
    np = import_module("numpy")
    pm = import_module("pymc3" if find_spec("pymc3") else "pymc")
    old = pm.__version__.startswith("3")
    name, size = model.split(":")
    more = {} if sampler == "pymc" else {"nuts_sampler": sampler}
    with pm.Model():
        watched = MODELS[name](pm, np, np.random.RandomState(0), int(size), old)
        start = time.time()
        trace = pm.sample(
            draws=int(draws),
            tune=int(draws),
            chains=int(chains),
            cores=int(chains),
            random_seed=1,
            progressbar=False,
            **({"return_inferencedata": False} if old else more),
        )
        took = time.time() - start
    values = trace[watched] if old else trace.posterior[watched].values
    print(f"{took:.1f} ({watched} {np.mean(values):.4f})")


def gaussian_process(pm: Any, np: Any, random: Any, size: int, old: bool) -> str:
    """Define the Gaussian process with three parameters; return the one to watch."""
    x = np.sort(random.rand(size, 1) * 10, 0)
    y = np.sin(x[:, 0]) + 0.2 * random.randn(size)
    length, height = pm.Gamma("length", 2, 1), pm.HalfNormal("height", 1)
    noise = pm.HalfNormal("noise", 0.5)
    process = pm.gp.Marginal(cov_func=height**2 * pm.gp.cov.ExpQuad(1, length))
    named = {"noise" if old or pm.__version__.startswith("4") else "sigma": noise}
    process.marginal_likelihood("y", X=x, y=y, **named)
    return "length"


def regression(pm: Any, np: Any, random: Any, size: int, old: bool) -> str:
    """Define the regression with 20 groups and 5 columns; return the parameter to watch."""
    del old
    groups, x = random.randint(0, 20, size), random.randn(size, 5)
    y = x.dot(random.randn(5)) + 0.5 * random.randn(20)[groups] + 0.3 * random.randn(size)
    group = pm.Normal("group", pm.Normal("mean", 0, 1), pm.HalfNormal("spread", 1), shape=20)
    slopes = pm.Normal("slopes", 0, 1, shape=5)
    noise = pm.HalfNormal("noise", 1)
    pm.Normal("y", group[groups] + pm.math.dot(x, slopes), noise, observed=y)
    return "slopes"


def normal_with_lkj(pm: Any, np: Any, random: Any, size: int, old: bool) -> str:
    """Define the normal distribution of five dimensions; return the parameter to watch."""
    del old
    y = random.randn(size, 5).dot(np.tril(random.randn(5, 5)).T)
    scale = pm.Exponential.dist(1.0)
    factor, *_ = pm.LKJCholeskyCov("factor", n=5, eta=2, sd_dist=scale, compute_corr=True)
    pm.MvNormal("y", pm.Normal("centre", 0, 2, shape=5), chol=factor, observed=y)
    return "centre"


TEXTS = {
    "gp": "a Gaussian process of {} points",
    "regression": "a regression with {} rows",
    "lkj": "a normal distribution with an LKJ prior, {} rows",
}
MODELS = {"gp": gaussian_process, "regression": regression, "lkj": normal_with_lkj}

if __name__ == "__main__":
    in_environment(*sys.argv[2:]) if sys.argv[1:2] == ["--sample"] else main()
