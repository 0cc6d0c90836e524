"""Time PyMC's sampling: threads chosen by libblas_threads, one thread each, and pip's libraries.

    .venv/bin/python measurements/sampling.py STACK[,STACK of pip-default] ... [--models gp:150,...]
        [--ways chosen,pip] [--chains 2] [--draws 60] [--sampler nutpie] [--rounds N] [--busy N]
        [--limit SECONDS]

A STACK is the folder of a built stack.yaml with PyMC 3 to 6, such as examples/pymc-5.28. Models:
gp, a Gaussian process of so many points; regression, hierarchical with so many rows; lkj, a normal
distribution of five dimensions with an LKJ prior. In a round the ways follow each other, beside
--busy endless loops. A first start, which compiles, is not counted. Prints the seconds in
`pm.sample` of each start, and the mean of a parameter, by which one sees the same posterior.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness import endless_loops, in_turn, options

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
    arguments = parser.parse_args()
    command = [__file__, "--sample", arguments.chains, arguments.draws, arguments.sampler]
    with endless_loops(arguments.busy):
        for stack in arguments.stacks:
            own, _, pip = stack.partition(",")
            for model in arguments.models.split(","):

                def start(way: str, own: str = own, pip: str = pip, model: str = model) -> str:
                    folder = Path(pip if way.startswith("pip") else own)
                    python = folder / "stack.build/environment/bin/python"
                    variables = ONE_THREAD if way.endswith("one") else {}
                    return sample([str(python), *command, model], variables, arguments.limit)

                ways = arguments.ways.split(",")
                in_turn(1, [way for way in ways if way in ("chosen", "pip-one")], start)
                for way, found in in_turn(arguments.rounds, ways, start).items():
                    print(f"{Path(own).name} {model:16} {way:8} {'; '.join(found)}", flush=True)


def sample(command: list[str], variables: dict[str, str], limit: float) -> str:
    """Return a start's seconds and mean; a start is ended, with its chains, at the limit."""
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
        return output.splitlines()[-1] if not program.returncode else "failed"
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, 9)
        program.wait()
        return f"more than {limit:.0f}"


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


MODELS = {"gp": gaussian_process, "regression": regression, "lkj": normal_with_lkj}

if __name__ == "__main__":
    in_environment(*sys.argv[2:]) if sys.argv[1:2] == ["--sample"] else main()
