"""Tasks for programs of one's own: a stack.yaml, running, a shell, notebooks, a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from stacks.core.console import display_path, next_step
from stacks.core.process import quoted
from stacks.core.workspace import default_workspace
from stacks.tasks.options import BUILT, CLUSTER, built, path_of, variant_of
from stacks.tasks.task import needs, prepare_cluster, remainder, task

if TYPE_CHECKING:
    from stacks.variants.variant import Variant

# What nobody types: --jobs 0 is an error.
NO_JOBS = -sys.maxsize


@task(
    "init ~/model",
    "init ~/model --framework theano-pymc-1.1.2",
    help={
        "folder": "your code's folder, created if it is missing",
        "extends": "the flavour that it is based on (default: openblas)",
    },
    positional=["folder"],
)
def init(folder: str, extends: str = "openblas", framework: str = "") -> None:
    """Write a stack.yaml, which adds your packages to a variant, next to your code."""
    from stacks.core.errors import UsageError
    from stacks.variants import stack
    from stacks.variants.load import load_flavour

    # So that a misspelt name is found now.
    chosen = load_flavour(default_workspace(), extends, framework or None)
    if chosen.channel:
        raise UsageError(
            f"--extends {extends}: a stack.yaml has packages of this project's channel",
            fix="leave out the @ and what follows it",
        )
    file = stack.write_template(
        path_of(folder), extends=chosen.name, framework=chosen.framework.name
    )
    print(f"written: {display_path(file)}; add your packages to its `pip:`")
    next_step(f"./invoke lock --variant {quoted([display_path(file)])}")


@task(
    "run -- python train.py",
    "run --variant mkl -- python train.py",
    "run --variant mkl --jobs 4 -- python sweep.py {} ::: 0.1 0.01",
    help={
        "variant": BUILT,
        "jobs": "run the program for each argument, N at a time: -- PROGRAM {} ::: ARG ARG ...",
        "over": "with --jobs: file with one argument in each line, instead of words after :::",
        "logs": "with --jobs: folder for the output of each run (default: job-logs)",
        "cluster": "with --jobs: " + CLUSTER,
    },
    rules=(needs("over", "jobs"), needs("logs", "jobs"), needs("cluster", "jobs")),
    takes_command=True,
)
def run(
    variant: str = "",
    framework: str = "",
    jobs: int = NO_JOBS,
    over: str = "",
    logs: str = "",
    cluster: str = "",
) -> None:
    """Run a program in an environment: the words after --."""
    from stacks.environments.use import run as run_module

    if jobs != NO_JOBS:
        from stacks.environments.use import jobs as jobs_module

        every = jobs_module.jobs_of(remainder(), path_of(over) if over else None)
        folder = path_of(logs or "job-logs")
        if cluster:
            from stacks.variants.load import load_variant

            workspace = default_workspace()
            chosen = load_variant(
                workspace, variant_of(workspace, variant, framework), framework or None
            )
            prepare_cluster()
            from stacks.cluster import command

            command.sweep(workspace, cluster, chosen, every, jobs, folder)
            return
        chosen, prefix = _environment(variant, framework)
        jobs_module.run_jobs(chosen, prefix, every, jobs, folder)
        return
    if not remainder():
        from stacks.core.errors import UsageError

        fix = "./invoke run -- python train.py"
        raise UsageError("nothing to run", expected="a program and its words after --", fix=fix)
    chosen, prefix = _environment(variant, framework)
    run_module.run(chosen, prefix, remainder())


@task("shell", "shell --variant mkl", "shell --variant ~/model/stack.yaml", help={"variant": BUILT})
def shell(variant: str = "", framework: str = "") -> None:
    """Open a shell in an environment."""
    from stacks.environments.use import run as run_module

    chosen, prefix = _environment(variant, framework)
    run_module.shell(chosen, prefix)


@task(
    "kernel --variant mkl",
    "kernel --variant ~/model --name model",
    help={
        "variant": BUILT,
        "name": "name of the kernel (default: framework and variant)",
        "prefix": "for the Jupyter in this folder, a venv or environment (default: this user's)",
    },
    protects=("build", "cache"),
)
def kernel(variant: str = "", framework: str = "", name: str = "", prefix: str = "") -> None:
    """Install a Jupyter kernel that runs notebooks in an environment.

    `jupyter kernelspec list` shows it, and `jupyter kernelspec remove NAME` removes it.
    """
    workspace = default_workspace()
    from stacks.core.paths import expanded
    from stacks.environments.use import kernel as kernels
    from stacks.sources.pins import read_pins

    chosen, target = built(variant, framework)
    kernels.install(
        workspace,
        chosen,
        target,
        read_pins(workspace.sources_lock),
        name=name or kernels.default_name(chosen),
        kernels=kernels.kernels_below(path_of(prefix) if prefix else None),
    )
    print(f"Jupyter offers it as {kernels.display_name(chosen)!r}")
    if lab := which("jupyter-lab", path=str(expanded(prefix) / "bin") if prefix else None):
        next_step(quoted([lab]) if prefix else "jupyter lab")


@task(
    "export --variant mkl --as environment --to environment.yml",
    "export --variant mkl --as devcontainer --to ~/model",
    help={
        "as": "the format: conda-lock, environment, pixi, pylock, requirements, devcontainer, "
        "apptainer, modulefile, easyconfig, kernelspec or compose; see docs/guides/exports.md",
        "to": "the file, or the folder for a format of several files (default for one file: "
        "standard output)",
    },
)
def export(variant: str, as_: str = "", framework: str = "", to: str = "") -> None:
    """Write a variant's lock in the format of another tool."""
    from stacks.core.errors import UsageError, unknown
    from stacks.exports import forms
    from stacks.exports.packages import subject_of
    from stacks.variants.load import load_variant

    workspace = default_workspace()
    if not as_:
        raise UsageError(
            "which format?",
            expected=f"--as and one of {', '.join(forms.FORMS)}",
            fix=f"./invoke export --variant {quoted([variant])} --as environment",
        )
    if as_ not in forms.FORMS:
        raise unknown("format", as_, forms.FORMS)
    subject = subject_of(workspace, load_variant(workspace, variant, framework or None))
    made = forms.export(subject, as_)
    if not to and made.is_folder:
        raise UsageError(f"{as_} needs a folder", expected=", ".join(made.files), fix="--to DIR")
    if not to:
        print(next(iter(made.files.values())), end="")
        target = Path.cwd() / next(iter(made.files))
    else:
        target = forms.write(made, path_of(to))
        print(f"written: {display_path(target)}", flush=True)
    usage = made.usage.replace("{to}", quoted([display_path(target)]))
    usage = usage.replace("{name}", quoted([target.name]))
    usage = usage.replace("{folder}", quoted([str(target.parent)]))
    next_step(usage, file=sys.stderr)


def _environment(variant: str, framework: str) -> tuple[Variant, Path]:
    """Return a variant and its built environment; say so if it did not pass its verification."""
    from stacks.environments.use.run import warn_of_verification

    chosen, prefix = built(variant, framework)
    warn_of_verification(default_workspace(), chosen)
    return chosen, prefix


INSECURE_ADDRESS = (
    "listen where others can reach it, without TLS: anyone there can run programs as you"
)


@task(
    "worker tcp://127.0.0.1:8786",
    "worker tls://HOST:8786 --name big -- --tls-ca-file ca.pem",
    positional=["address"],
    help={
        "address": "address of the scheduler, such as tls://HOST:8786",
        "name": "name of this machine in progress and results (default: random)",
        "insecure_address": INSECURE_ADDRESS,
    },
    takes_command=True,
)
def worker(address: str, name: str = "", insecure_address: bool = False) -> None:
    """Work for a dask scheduler; words after -- go to `dask worker`."""
    prepare_cluster()
    from stacks.cluster import programs

    programs.worker(address, name, remainder(), insecure=insecure_address)


@task(
    "scheduler",
    "scheduler -- --port 9000",
    help={"insecure_address": INSECURE_ADDRESS},
    takes_command=True,
)
def scheduler(insecure_address: bool = False) -> None:
    """Run a dask scheduler on this machine; words after -- go to `dask scheduler`."""
    prepare_cluster()
    from stacks.cluster import programs

    programs.scheduler(remainder(), insecure=insecure_address)
