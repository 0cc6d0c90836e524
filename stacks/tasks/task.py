"""The decorator of every task: errors for people, exit codes, the log of a failure.

With the rules which options go together: declared with the options, checked before the task runs. A
rule names options as a user types them, without dashes, and lists them between blanks. `to=oci` is
one value of an option; `--` is a program after `--`.
"""

from __future__ import annotations

import functools
import inspect
import os
import resource
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import invoke.exceptions
import invoke.tasks

from stacks.core.console import display_path, show_error, write_log
from stacks.core.disk import INSTALLED, disk_error
from stacks.core.errors import StacksError, UsageError, unknown
from stacks.core.process import Ended, quoted
from stacks.core.workspace import default_workspace
from stacks.tasks.options import SHARED

INTERRUPTED = 130
# Bytes of address space with which a build ends on two cores; with two thirds it does not.
LEAST_MEMORY = 1_500_000 << 10


@dataclass(frozen=True)
class Declared:
    """What a task declares for its help.

    examples: the words after ./invoke. options: what each is for. takes_command: whether it passes
    the words after `--` on.
    """

    docstring: str
    examples: tuple[str, ...]
    options: Mapping[str, str]
    takes_command: bool


# By the tasks' names.
DECLARED: dict[str, Declared] = {}


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

    examples: for its help, the words after ./invoke. help: what its options are for, where they
    have no text or another one in SHARED. repeated: options that may be given more than once.
    rules: which options go together. protects: `build` and `cache`, which `clean` must leave alone
    while the task runs. Words after `--` are an error, unless this task or another one on the
    command line takes_command. in_checkout: it is for the project's own files.
    """

    def decorate(body: Callable[..., None]) -> Any:
        task_name = name or body.__name__.replace("_", "-")
        signature = inspect.signature(body)
        shared = SHARED.keys() & signature.parameters
        texts = {**{each: SHARED[each] for each in shared}, **(help or {})}
        docstring = inspect.getdoc(body) or ""
        DECLARED[task_name] = Declared(docstring, examples, dict(texts), takes_command)

        @functools.wraps(body)
        def run(_context: object, *args: Any, **options: Any) -> None:
            try:
                _check_no_command(task_name)
                line = _command_line(body, options)
                for rule in rules:
                    rule(line)
                if in_checkout:
                    require_checkout(task_name)
                _protect(protects)
                body(*args, **options)
                sys.stdout.flush()
            except StacksError as error:
                show_error(error)
                _write_log(task_name, error)
                raise invoke.exceptions.Exit(code=error.exit_code) from error
            except (KeyboardInterrupt, Ended) as end:
                code = end.status if isinstance(end, Ended) else INTERRUPTED
                what = f"ended by signal {code - 128}" if isinstance(end, Ended) else "interrupted"
                again = "continues" if protects else "begins again"
                # A terminal that was closed cannot be written to.
                with suppress(OSError):
                    words = f"what was finished is kept: the same command {again}"
                    print(f"\n{what}; {words}", file=sys.stderr)
                raise invoke.exceptions.Exit(code=code) from None
            except BrokenPipeError:
                # The reader closed the pipe, as `head` does.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise invoke.exceptions.Exit(code=128 + signal.SIGPIPE) from None
            except Exception as error:
                known = disk_error(error, Path("this process"))
                if known:
                    show_error(known)
                _write_log(task_name, error)
                if known:
                    raise invoke.exceptions.Exit(code=known.exit_code) from error
                raise

        # invoke gives each task a context first, which none of these reads.
        first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[first, *signature.parameters.values()]
        )
        options = {"help": texts, "positional": positional, "iterable": repeated}
        return invoke.tasks.task(name=name, **options)(run)

    return decorate


def _write_log(task_name: str, error: BaseException) -> None:
    # Without a home folder there is no workspace either.
    with suppress(StacksError):
        if path := write_log(default_workspace().logs, task_name, error):
            print(f"  log:      {display_path(path)}", file=sys.stderr)


def _protect(what: Collection[str]) -> None:
    if not what:
        return
    from stacks.environments import folders
    from stacks.environments.care import clean

    workspace = default_workspace()
    clean.collect(workspace, what)
    if "build" in what:
        folders.protect_build(workspace)
    if "cache" in what:
        folders.protect_cache(workspace)
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        # rattler aborts the process where it runs out.
        if 0 <= limit < LEAST_MEMORY:
            print(
                f"note: ulimit -v is {limit >> 10} KiB: if this ends with `memory allocation "
                f"failed`, raise it: ulimit -v {LEAST_MEMORY >> 10}",
                file=sys.stderr,
            )


def require_checkout(what: str) -> None:
    """Raise UsageError where this is the installed command, whose files nobody edits."""
    if INSTALLED:
        raise UsageError(
            f"{what} is for the project's own files, and the installed command has no checkout",
            fix="run it in a checkout of the project",
        )


def prepare_cluster() -> None:
    """Install requirements-cluster.lock, which stacks.cluster imports, into the running venv."""
    from stacks.core.workspace import CLUSTER_LOCK, prepare_tools

    prepare_tools(CLUSTER_LOCK)


def _check_no_command(task_name: str) -> None:
    """Raise UsageError if words follow `--` and no task on the command line takes them."""
    words = sys.argv[: sys.argv.index("--")] if remainder() else ()
    if words and not any(word in DECLARED and DECLARED[word].takes_command for word in words):
        raise UsageError(
            f"{task_name} takes no words after --",
            found=quoted(remainder()),
            fix=f"leave them out; `./invoke {task_name} --help` shows its options",
        )


def remainder() -> list[str]:
    """Return the words after `--` on the command line, as the user's shell split them."""
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


@dataclass(frozen=True)
class CommandLine:
    """The options of a task as the user gave them.

    values, defaults: by the options' names. program: the words after `--`.
    """

    values: Mapping[str, Any]
    defaults: Mapping[str, Any]
    program: Sequence[str]

    def has(self, option: str) -> bool:
        """Return whether an option, or one value of it, was given."""
        if option == "--":
            return bool(self.program)
        name, _, value = option.partition("=")
        given = self.values[name]
        return bool(given == value if value else given not in ([], self.defaults[name]))

    def given(self, options: str) -> list[str]:
        """Return those of several options that were given."""
        return [option for option in options.split() if self.has(option)]


# Raises UsageError if a command line breaks the rule.
Rule = Callable[[CommandLine], None]


def excludes(option: str, others: str, why: str) -> Rule:
    """Return the rule that others have no meaning with an option; why: ends the message."""

    def check(line: CommandLine) -> None:
        if line.has(option) and (present := line.given(others)):
            names = _listed(present, "and")
            raise UsageError(f"{_typed(option)} {why}", found=names, fix=f"leave out {names}")

    return check


def needs(option: str, others: str) -> Rule:
    """Return the rule that an option has a meaning only with one of others."""

    def check(line: CommandLine) -> None:
        if line.has(option) and not line.given(others):
            names = _listed(others.split(), "or")
            fix = f"add {names}, or leave out {_typed(option)}"
            raise UsageError(f"{_typed(option)} needs {names}", fix=fix)

    return check


def one_of(options: str) -> Rule:
    """Return the rule that exactly one of several options is needed."""

    def check(line: CommandLine) -> None:
        present = line.given(options)
        if len(present) != 1:
            found = _listed(present, "and") if present else "none of them"
            raise UsageError(f"give exactly one of {_listed(options.split(), 'and')}", found=found)

    return check


def values(option: str, known: str) -> Rule:
    """Return the rule that an option has one of some values, or its default."""

    def check(line: CommandLine) -> None:
        value = line.values[option]
        if line.has(option) and value not in known.split():
            raise unknown(f"value of --{option}", value, known.split())

    return check


def _command_line(task: Callable[..., None], options: Mapping[str, Any]) -> CommandLine:
    parameters = inspect.signature(task).parameters
    defaults = {_option(name): each.default for name, each in parameters.items()}
    given = {_option(name): value for name, value in options.items()}
    return CommandLine({**defaults, **given}, defaults, remainder())


def _option(parameter: str) -> str:
    # `from_` is --from, because `from` cannot be a parameter of Python.
    return parameter.strip("_").replace("_", "-")


def _typed(option: str) -> str:
    """Return an option as it is typed."""
    name, _, value = option.partition("=")
    return "a program after --" if option == "--" else f"--{name} {value}".strip()


def _listed(options: Sequence[str], word: str) -> str:
    *first, last = map(_typed, options)
    return f"{', '.join(first)} {word} {last}" if first else last
