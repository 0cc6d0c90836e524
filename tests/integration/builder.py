"""Makes an environment in a process of its own, which a test kills or holds at some point.

builder.py ROOT CACHE TARGET VARIANT POINT
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from stacks.core import disk
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import contents, pip_install, settings
from stacks.variants.load import load_variant


def die(*arguments: object, **options: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_when(pattern: str, folder: Path) -> None:
    def watch() -> None:
        while not any(folder.glob(pattern)):
            pass
        die()

    threading.Thread(target=watch, daemon=True).start()


def die_after(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: object, **options: object) -> None:
        function(*arguments, **options)
        die()

    return run


def die_with_pip_running(command: Sequence[str | Path], **options: Any) -> None:
    # The test reads this process's streams to their end, so pip must not hold them open.
    subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE,
        **options,
    )  # fmt: skip
    die()


def hold(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: object, **options: object) -> None:
        function(*arguments, **options)
        print("held", flush=True)
        sys.stdin.readline()

    return run


def prepare(workspace: Workspace, point: str, target: Path) -> None:
    patch: Callable[[Any, str, Any], None] = setattr
    if point == "unpacking":
        die_when("unpacked/*/lib", workspace.cache)
    elif point == "linking":
        die_when(f".{target.name}.*.part/*/lib/*", target.parent)
    elif point == "checking":
        patch(contents, "check", die)
    elif point == "pip begins":
        patch(pip_install, "_pip_install", die)
    elif point == "pip runs":
        patch(pip_install, "call", die_with_pip_running)
    elif point == "pip ended":
        patch(pip_install, "_make_relocatable", die)
    elif point == "settings":
        patch(settings, "write", die_after(settings.write))
    elif point == "swapping":
        patch(disk, "exchange", die)
    elif point == "hold":
        patch(contents, "check", hold(contents.check))
    elif point.startswith("largest file "):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = int(point.rsplit(" ", 1)[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    else:
        assert not point, point


def main(root: str, cache: str, target: str, name: str, point: str) -> int:
    workspace = Workspace(Path(root), Path(cache))
    prepare(workspace, point, Path(target))
    variant = load_variant(workspace, name)
    try:
        print(pipeline.make_environment(workspace, variant, Path(target)))
    except StacksError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
