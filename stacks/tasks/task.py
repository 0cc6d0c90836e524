"""The decorator of every task: errors for people, exit codes, the log of a failure."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import invoke.exceptions
import invoke.tasks

from stacks.core import log
from stacks.core.console import display_path, show_error
from stacks.core.disk import INSTALLED
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import quoted
from stacks.core.workspace import default_workspace
from stacks.tasks import rules as task_rules
from stacks.tasks.rules import Rule

INTERRUPTED = 130
# The tasks that pass the words after `--` on.
TAKING_COMMANDS: set[str] = set()
# {name of a task: its examples}, the words after ./invoke.
EXAMPLES: dict[str, tuple[str, ...]] = {}
# {name of a task: {its option: what it is for}}.
HELP: dict[str, dict[str, str]] = {}


def task(
    *examples: str,
    name: str | None = None,
    help: dict[str, str] | None = None,
    positional: list[str] | None = None,
    repeated: list[str] | None = None,
    rules: Sequence[Rule] = (),
    protects: Collection[str] = (),
    takes_command: bool = False,
    in_checkout: bool = False,
) -> Callable[[Callable[..., None]], Any]:
    """Make an invoke task of a function; a StacksError in it is shown without a traceback.

    examples: for its help, the words after ./invoke. repeated: options that may be given more than
    once. rules: which options go together. protects: `build` and `cache`, which `clean` must leave
    alone while the task runs. Words after `--` are an error, unless this task or another one on the
    command line takes_command. in_checkout: it is for the project's own files.
    """

    def decorate(body: Callable[..., None]) -> Any:
        task_name = name or body.__name__.replace("_", "-")
        EXAMPLES[task_name] = examples
        HELP[task_name] = help or {}
        if takes_command:
            TAKING_COMMANDS.add(task_name)

        @functools.wraps(body)
        def run(*args: Any, **options: Any) -> None:
            try:
                _check_no_command(task_name)
                task_rules.check(rules, body, options, remainder())
                if in_checkout:
                    require_checkout(task_name)
                _protect(protects)
                body(*args, **options)
                sys.stdout.flush()
            except StacksError as error:
                show_error(error)
                _write_log(task_name, error)
                raise invoke.exceptions.Exit(code=error.exit_code) from error
            except KeyboardInterrupt:
                more = ": the same command continues" if protects else ""
                print(f"\ninterrupted; what was finished is kept{more}", file=sys.stderr)
                raise invoke.exceptions.Exit(code=INTERRUPTED) from None
            except BrokenPipeError:
                # The reader closed the pipe, as `head` does.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise invoke.exceptions.Exit(code=128 + signal.SIGPIPE) from None
            except Exception as error:
                _write_log(task_name, error)
                raise

        options = {"help": help or {}, "positional": positional, "iterable": repeated}
        return invoke.tasks.task(name=name, **options)(run)

    return decorate


def _write_log(task_name: str, error: BaseException) -> None:
    # Without a home folder there is no workspace either.
    with suppress(StacksError):
        if path := log.write(default_workspace().logs, task_name, error):
            print(f"  log:      {display_path(path)}", file=sys.stderr)


def _protect(what: Collection[str]) -> None:
    if not what:
        return
    from stacks.environments import in_use
    from stacks.environments.care import leftovers

    workspace = default_workspace()
    leftovers.collect(workspace, what)
    if "build" in what:
        in_use.protect_build(workspace)
    if "cache" in what:
        in_use.protect_cache(workspace)


def require_checkout(what: str) -> None:
    """Raise UsageError where this is the installed command, whose files nobody edits."""
    if INSTALLED:
        raise UsageError(
            f"{what} is for the project's own files, and the installed command has no checkout",
            fix="run it in a checkout of the project",
        )


def prepare_cluster() -> None:
    """Install requirements-cluster.lock, which stacks.cluster imports, into the running venv."""
    from stacks.core.venv import CLUSTER_LOCK, prepare_tools

    prepare_tools(Path(sys.prefix), CLUSTER_LOCK)


def _check_no_command(task_name: str) -> None:
    """Raise UsageError if words follow `--` and no task on the command line takes them."""
    if remainder() and TAKING_COMMANDS.isdisjoint(sys.argv[: sys.argv.index("--")]):
        raise UsageError(
            f"{task_name} takes no words after --",
            found=quoted(remainder()),
            fix=f"leave them out; `./invoke {task_name} --help` shows its options",
        )


def remainder() -> list[str]:
    """Return the words after `--` on the command line, as the user's shell split them."""
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
