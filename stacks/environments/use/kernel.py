"""A Jupyter kernel in an environment: a kernelspec, and ipykernel beside the environment.

ipykernel and what it imports are locked (envs/kernel.yaml) and lie in a folder of their own, last
on the kernel's path: the environment stays as locked, and its own packages win. An environment that
has ipykernel itself, from a stack.yaml, uses that.

A kernelspec is a folder with a kernel.json in a place where Jupyter looks:
https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from stacks.core import paths, records, yamlfile
from stacks.core.console import display_path, step
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically
from stacks.core.errors import UsageError
from stacks.core.models import FileName, Strict
from stacks.core.paths import expanded
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.environments.folders import kernel_folder
from stacks.environments.make import pip_install
from stacks.environments.programs import environment, own_variables
from stacks.sources.pins import IndexPin, Pins
from stacks.variants.variant import Variant
from verify.core import surroundings

# In a kernelspec's metadata: it is one of ours.
OWNER = "theano-stacks"
START = "start.py"
KEY = "key"
# How each Python 3 of an environment was built: its own name for that module.
SYSCONFIG = "_sysconfigdata__linux_x86_64-linux-gnu"
# What Jupyter takes as the name of a kernel.
NAME = r"[A-Za-z0-9._-]+"

# Runs under every Python that an environment can have, from 2.7 on.
START_SOURCE = '''\
"""Starts ipykernel, which lies beside this file, in the environment whose Python runs it."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Not the folder of this file: ipykernel adds the notebook's.
del sys.path[0]
# For this Python alone, not for the programs that a notebook starts.
os.environ.pop("PYTHONHOME", None)
# Last: the environment's own packages win.
sys.path.append(os.path.join(FOLDER, "packages"))

if __name__ == "__main__":
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
'''


class KernelFile(Strict):
    """What a notebook's kernel needs beside an environment."""

    files: dict[str, tuple[FileName, ...]] = Field(
        description="by Python version: the files of ipykernel and of all that it imports"
    )


def kernel_files(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """Return the names of ipykernel's files by Python version."""
    return dict(yamlfile.load(workspace.envs / "kernel.yaml", KernelFile).files)


def pins_of(workspace: Workspace, variant: Variant, pins: Pins) -> tuple[IndexPin, ...]:
    """Return the pinned files of ipykernel for a variant; UsageError if it has none."""
    files = kernel_files(workspace)
    python = variant.framework.python
    if python not in files:
        raise UsageError(
            f"{variant.id}: no ipykernel is locked for Python {python}",
            expected=f"one of Python {', '.join(files)}",
            fix=f"add it to {display_path(workspace.envs / 'kernel.yaml')}, then ./invoke pin",
        )
    return tuple(pins.file(name) for name in files[python])


def default_name(variant: Variant) -> str:
    """Return the name of a variant's kernel, `theano-1.0.5-openblas`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", variant.id).strip("-")


def kernels_below(root: Path | None) -> Path:
    """Return the folder of kernelspecs below a Python's prefix, or the user's own for None.

    As jupyter_core has it: JUPYTER_DATA_DIR, else jupyter/ in XDG_DATA_HOME, else in
    ~/.local/share.
    """
    if root:
        return root / "share/jupyter/kernels"
    if folder := os.environ.get("JUPYTER_DATA_DIR"):
        return Path(folder) / "kernels"
    data = os.environ.get("XDG_DATA_HOME") or expanded("~/.local/share")
    return Path(data) / "jupyter/kernels"


def install(
    workspace: Workspace, variant: Variant, target: Path, pins: Pins, *, name: str, kernels: Path
) -> Path:
    """Install a kernelspec that starts ipykernel in the environment `target`; return its folder.

    kernels: the folder of kernelspecs. Raises UsageError if a kernel of another origin has that
    name, or if ipykernel does not start in the environment.
    """
    if not re.fullmatch(NAME, name):
        raise UsageError(
            f"{name!r} is no name of a kernel", expected="letters, digits and the signs . _ -"
        )
    folder = kernels / name
    if paths.exists(folder) and (owner := _other_owner(folder, target)):
        raise UsageError(
            f"{display_path(folder)} is there and is {owner}",
            fix="choose another name: --name NAME",
        )
    own = has_own(variant, target)
    if not own:
        _install_packages(workspace, variant, target, pins_of(workspace, variant, pins))
    words = command(target, own=own)
    try:
        version = call([*words, "--version"], env=environment(target)).strip()
    except CommandError as error:
        raise _does_not_start(variant, own, error) from error
    with fixed_umask(), replace_atomically(Path(os.path.realpath(folder))) as new:
        new.mkdir(parents=True)
        (new / "kernel.json").write_text(spec_text(variant, words, target))
    print(f"kernel {name}: IPython {version} in {display_path(target)}")
    return folder


def _does_not_start(variant: Variant, own: bool, error: CommandError) -> UsageError:
    """Return the error for an ipykernel that fails: mostly, packages of the environment are old."""
    if own:
        fix = "ask for another version of ipykernel, or of the package that is named"
    elif variant.file:
        fix = "add ipykernel to `pip:` of the stack.yaml, then `lock` and `build`: that one fits"
    else:
        fix = f"./invoke build {variant.option} --clean makes it without what you have added"
    what = f"ipykernel does not start in the environment of {variant.id}"
    return UsageError(what, found=error.last_line, fix=fix)


def has_own(variant: Variant, target: Path) -> bool:
    """Return whether an environment has ipykernel itself: locked, or added by the user."""
    return (target / f"lib/python{variant.framework.python}/site-packages/ipykernel").is_dir()


def display_name(variant: Variant) -> str:
    """Return the name that Jupyter shows."""
    return f"{variant.name} on {variant.framework.name}"


def command(target: Path, *, own: bool) -> list[str]:
    """Return the words that start ipykernel in an environment.

    own: the environment has ipykernel itself; else it lies beside it.
    """
    python = str(target / "bin/python")
    beside = str(kernel_folder(target) / START)
    return [python, "-m", "ipykernel_launcher"] if own else [python, beside]


def spec_text(variant: Variant, words: Sequence[str], target: Path) -> str:
    """Return the text of the kernel.json of an environment; words: those that start ipykernel."""
    content = {
        "argv": [*words, "-f", "{connection_file}"],
        "display_name": display_name(variant),
        "language": "python",
        "interrupt_mode": "signal",
        "env": {**own_variables(target), **_without_another_python(variant, target)},
        "metadata": {"debugger": variant.framework.python != "2.7", OWNER: {"variant": variant.id}},
    }
    return json.dumps(content, indent=1) + "\n"


def _without_another_python(variant: Variant, target: Path) -> dict[str, str]:
    """Return the values by which Python variables have no effect: a kernelspec cannot unset them.

    Python 2 takes even an empty PYTHONHOME for a folder, Python 3 the last one for a module.
    """
    home = str(target) if variant.framework.python == "2.7" else ""
    named = {"PYTHONHOME": home, "_PYTHON_SYSCONFIGDATA_NAME": SYSCONFIG}
    return {**dict.fromkeys(surroundings.OTHER_PYTHON, ""), **named}


def _other_owner(folder: Path, target: Path) -> str:
    """Return whose a kernelspec is, if it must not be replaced by one of the environment."""
    try:
        spec = records.read_json(folder / "kernel.json")
        _, python = spec["metadata"][OWNER], Path(spec["argv"][0])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return "not of theano-stacks"
    # That of an environment which is gone may be replaced.
    is_other = python != target / "bin/python" and paths.exists(python)
    return f"that of {display_path(python.parents[1])}" if is_other else ""


def _install_packages(
    workspace: Workspace, variant: Variant, target: Path, pins: Sequence[IndexPin]
) -> None:
    """Install ipykernel beside an environment, if it is not there."""
    place = kernel_folder(target)
    digests = [pin.sha256 for pin in pins]
    key = hashlib.sha256(json.dumps([START_SOURCE, digests]).encode()).hexdigest()

    def is_there() -> bool:
        return (place / KEY).is_file() and (place / KEY).read_text() == key

    # A user of a shared environment may not write the lock.
    if is_there():
        return
    with hold_lock(place, f"the kernel of {variant.id}"):
        if is_there():
            return
        what = f"{len(pins)} packages with ipykernel"
        with step("kernel", what), fixed_umask(), replace_atomically(place) as new:
            new.mkdir()
            pip_install.add_beside(workspace, target, pins, new / "packages")
            (new / START).write_text(START_SOURCE)
            (new / KEY).write_text(key)
