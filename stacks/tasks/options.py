"""Help texts and parsing of options that several tasks share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.paths import expanded, is_dir
from stacks.core.workspace import Workspace, default_workspace

if TYPE_CHECKING:
    from stacks.variants.variant import Variant

VARIANT = "NAME, FRAMEWORK/NAME (./invoke list shows all), or the path of a stack.yaml"
BUILT = f"{VARIANT} (default: the environment that is built, if there is only one)"
CHANNEL = "take the packages from this conda channel: an address, or a name as in conda"
# What several tasks take, in the same words: described once.
SHARED = {
    "variant": VARIANT,
    "framework": "the framework of a bare NAME, such as pytensor-3.3.7 or theano-pymc (default: "
    "theano-1.0.5)",
    "channel": CHANNEL,
    "json": "also write the report to this file, as JSON",
    "full": "also run the long timings: larger matrices, and each linker of PyTensor",
}
CLUSTER = "use the machines of the dask scheduler at this address; see docs/guides/cluster.md"


def path_of(text: str) -> Path:
    """Return the absolute path that an option names."""
    return expanded(text).absolute()


def file_of(text: str) -> Path | None:
    """Return the absolute path of the file that an option names, to be written; None for "".

    A link is followed, so that it stays. Raises UsageError for a folder.
    """
    if not text:
        return None
    path = path_of(text)
    if is_dir(path):
        raise UsageError(
            f"{display_path(path)} is a folder", expected="the name of a file", fix="add one to it"
        )
    real = Path(os.path.realpath(path))
    # /dev/stdout may lead to a pipe, which has no path.
    return real if real.exists() or not path.exists() else path


def folder_of(text: str) -> Path:
    """Return the absolute path of the folder that an option names, to be written.

    A link is followed, so that it stays.
    """
    # pathlib's own raises RuntimeError for a link to itself.
    return Path(os.path.realpath(path_of(text)))


def variant_of(workspace: Workspace, variant: str, framework: str) -> str:
    """Return the name of the variant that a task uses: without one, the only one that is built.

    That one is named on standard error. Raises UsageError if none is built, or several are.
    """
    if variant:
        return variant
    # Loaded here: tasks that use no environment need none of it.
    from stacks.environments.folders import READY
    from stacks.variants.load import framework_named

    on = framework_named(workspace, framework) if framework else "*"
    found = [path.parents[2] for path in workspace.environments.glob(f"{on}/[!.]*/{READY}")]
    built = sorted(f"{folder.parent.name}/{folder.name}" for folder in found)
    where, option = (f" on {on}", f" --framework {on}") if framework else ("", "")
    if not built:
        raise UsageError(
            f"no environment is built{where}",
            fix=f"./invoke build{option}, or --variant PATH of your stack.yaml",
        )
    if len(built) > 1:
        raise UsageError(
            "which environment?", found=", ".join(built), fix=f"name one: --variant {built[0]}"
        )
    print(f"using {built[0]}, the only environment that is built{where}", file=sys.stderr)
    return built[0]


def built(variant: str, framework: str) -> tuple[Variant, Path]:
    """Return the variant that a task uses, as variant_of, and the folder of its environment.

    Raises UsageError if it is not built, StaleError if its lock is stale.
    """
    from stacks.environments.folders import ready_environment

    workspace = default_workspace()
    name = variant_of(workspace, variant, framework)
    return ready_environment(workspace, name, framework or None)


def names_of(text: str) -> frozenset[str]:
    """Return the names in an option that lists them between commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def is_variant(word: str) -> bool:
    """Return whether a word names a variant: NAME, FRAMEWORK/NAME, NAME@CHANNEL or a file."""
    from stacks.variants.load import flavour_names

    name = word.rpartition("/")[2].partition("@")[0]
    return word.endswith((".yaml", ".yml")) or name in flavour_names(default_workspace())
