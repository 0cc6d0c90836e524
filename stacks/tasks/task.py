"""What stands between invoke and the functions that do the work."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Collection
from typing import Any

import invoke.exceptions
import invoke.tasks

from stacks.core.console import show_error
from stacks.core.errors import StacksError
from stacks.core.workspace import default_workspace

INTERRUPTED = 130


def task(
    *,
    name: str | None = None,
    help: dict[str, str] | None = None,
    positional: list[str] | None = None,
    uses: Collection[str] = (),
) -> Callable[[Callable[..., None]], Any]:
    """Make an invoke task of a function; a StacksError in it is told, never traced back.

    `uses` has `build` and `cache` where `clean` must leave those alone as long as it runs.
    """

    def decorate(body: Callable[..., None]) -> Any:
        @functools.wraps(body)
        def run(*args: Any, **options: Any) -> None:
            try:
                _use(uses)
                body(*args, **options)
                sys.stdout.flush()
            except StacksError as error:
                show_error(error)
                raise invoke.exceptions.Exit(code=error.exit_code) from error
            except KeyboardInterrupt:
                print("\ninterrupted; what was finished is kept", file=sys.stderr)
                raise invoke.exceptions.Exit(code=INTERRUPTED) from None
            except BrokenPipeError:
                # The reader of a pipe, `head` for one, has seen enough.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise invoke.exceptions.Exit(code=128 + signal.SIGPIPE) from None

        return invoke.tasks.task(name=name, help=help or {}, positional=positional)(run)

    return decorate


def _use(what: Collection[str]) -> None:
    if not what:
        return
    from stacks.environments import in_use

    workspace = default_workspace()
    if "build" in what:
        in_use.use_build(workspace)
    if "cache" in what:
        in_use.use_cache(workspace)


def remainder() -> list[str]:
    """Return the words after `--` on the command line, as the user's shell split them."""
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
