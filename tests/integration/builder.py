"""Makes an environment in a process of its own, which a test may hold before it is checked.

builder.py ROOT CACHE TARGET VARIANT [hold]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import contents
from stacks.variants.load import load_variant


def hold_before_checks() -> None:
    """Print `held` and wait for a line, where the files of the environment are there."""
    check, patch = contents.check, setattr

    def held(*arguments: Any, **options: Any) -> None:
        check(*arguments, **options)
        print("held", flush=True)
        sys.stdin.readline()

    patch(contents, "check", held)


def main(root: str, cache: str, target: str, name: str, hold: str = "") -> int:
    if hold:
        hold_before_checks()
    workspace = Workspace(Path(root), Path(cache))
    try:
        variant = load_variant(workspace, name)
        print(pipeline.make_environment(workspace, variant, Path(target)))
    except StacksError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
