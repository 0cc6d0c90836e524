"""The command line: invoke's program, with --verbose and this project's error messages."""

from __future__ import annotations

import atexit
import inspect
import io
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress

import invoke
import invoke.config
import invoke.program
from invoke.exceptions import Exit, ParseError
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext

from stacks.core import log
from stacks.core.console import PROGRAM, as_typed, show_error
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError
from stacks.core.suggestions import nearest
from stacks.tasks.completion import candidates
from stacks.tasks.help import asked_for, name_of, text_of, with_each_file
from stacks.tasks.options import VALUES
from stacks.tasks.task import EXAMPLES, INTERRUPTED, TAKING_COMMANDS, remainder


class Config(invoke.config.Config):
    """invoke's configuration, without that of the person's own projects: ~/.invoke.yaml, INVOKE_*.

    No variable can have this prefix.
    """

    prefix = "theano-stacks"


class Program(invoke.program.Program):
    """invoke's program for this project's tasks."""

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Run the command line; an interrupt before a task begins ends like one in a task."""
        try:
            super().run(argv, exit)
        except SystemExit as end:
            # invoke ends silently, with the status of a failure.
            if not isinstance(end.__context__, KeyboardInterrupt):
                raise
            print("\ninterrupted", file=sys.stderr)
            raise SystemExit(INTERRUPTED) from None

    def core_args(self) -> list[Argument]:
        """Return invoke's own options, and --verbose."""
        text = "Show each command that runs, each file fetched and each package built."
        return [*super().core_args(), Argument(names=("verbose", "v"), kind=bool, help=text)]

    def execute(self) -> None:
        """Run the tasks, and keep a log."""
        log.start(verbose=self.args.verbose.value)
        super().execute()

    def parse_tasks(self) -> None:
        """Parse the tasks' words; show an error and exit with status 2 if they are not valid."""
        try:
            super().parse_tasks()
        # ValueError: the value of an option is no number.
        except (ParseError, ValueError) as error:
            tasks = {str(context.name): context for context in self.collection.to_contexts()}
            words, core = self.core.unparsed, self.initial_context
            show_error(command_line_error(words, tasks, core, str(error)))
            raise Exit(code=UsageError.exit_code) from error

    def parse_cleanup(self) -> None:
        """Show the help, list or completion asked for; a misspelt task's help is an error."""
        if self.args.complete.value:
            tasks = {str(context.name): context for context in self.collection.to_contexts()}
            for word in candidates(remainder() or [""], tasks, VALUES):
                print(word)
            raise Exit
        name = self.args.help.value
        if isinstance(name, str) and name not in self.parser.contexts:
            show_error(unknown_task(name, list(self.parser.contexts)))
            raise Exit(code=UsageError.exit_code)
        super().parse_cleanup()

    def print_task_help(self, name: str) -> None:
        """Print what a task does, its options, and examples."""
        docstring = inspect.getdoc(self.collection[name]) or ""
        takes_command = name in TAKING_COMMANDS
        context = self.parser.contexts[name]
        print(text_of(context, docstring, EXAMPLES[name], takes_command=takes_command))

    def print_version(self) -> None:
        """Print the version of this project, and the commit."""
        # Loaded here: it starts git.
        from stacks.core.version import described

        print(f"theano-stacks {described()}")

    def no_tasks_given(self) -> None:
        """Show how a command line is made, and the tasks."""
        print(as_typed("Usage: ./invoke [-v] TASK [OPTIONS] [-- WORDS]\n"))
        self.list_tasks()
        print(as_typed("./invoke TASK --help shows what a task does, its options, and examples."))
        print("-v shows each command that runs, each file fetched and each package built.")
        raise Exit


def command_line_error(
    words: Sequence[str], tasks: Mapping[str, ParserContext], core: ParserContext, message: str
) -> StacksError:
    """Return the error for words that invoke could not parse; `message` is its own."""
    first = words[0].partition("=")[0]
    if first.startswith("-"):
        near = nearest(first, core.flags)
        return UsageError(
            f"there is no option {first} before a task",
            fix=f"did you mean {near}?" if near else "`./invoke --help` shows them",
        )
    task = words[0]
    help_of = f"`./invoke {task} --help` shows its options"
    if task not in tasks:
        return unknown_task(task, list(tasks))
    flags = {**core.flags, **tasks[task].flags}
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        if word == "--":
            break
        name, _, value = word.partition("=")
        if not name.startswith("--"):
            continue
        if name not in flags:
            near = nearest(name, tasks[task].flags)
            return UsageError(
                f"{task} has no option {name}", fix=f"did you mean {near}?" if near else help_of
            )
        if flags[name].takes_value and not value and following.startswith("--"):
            return UsageError(f"{name} of {task} needs a value", fix=help_of)
        if flags[name].kind is int and not re.fullmatch(r"-?\d+", given := value or following):
            return UsageError(f"{name} of {task} needs a whole number", found=given, fix=help_of)
    if lacking := re.search("required positional arguments: '([a-z_]+)'", message):
        shown = name_of(tasks[task], lacking[1])
        return UsageError(f"{task} needs {shown}", fix=help_of)
    if (unknown := re.search("No idea what '(.*)' is", message)) and task in TAKING_COMMANDS:
        return UsageError(
            f"{task} has no use for the word {unknown[1]!r}",
            fix=f"a program and its words come after --: ./invoke {task} ... -- {unknown[1]} ...",
        )
    return UsageError(f"the words after {task} cannot be read", found=message, fix=help_of)


def unknown_task(name: str, tasks: Sequence[str]) -> StacksError:
    """Return the error for a task that is not there."""
    near = None if name == "help" else nearest(name, tasks)
    return UsageError(
        f"there is no task {name!r}",
        fix=f"did you mean `./invoke {near}`?" if near else "`./invoke` shows the tasks",
    )


def main() -> None:
    """Run the tasks of the command line."""
    name = as_typed(PROGRAM)
    program = Program(name="theano-stacks", binary=name, config_class=Config)
    # A path may have letters that the terminal's encoding lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    words = with_each_file(asked_for(sys.argv[1:]))
    run_to_end(program, [name, "--search-root", str(REPOSITORY), *words])


def run_to_end(program: Program, words: list[str]) -> None:
    """Run a command line; the process then ends, without the interpreter's own end.

    rattler's threads use the interpreter until then, and about once in 1,000 times it aborts.
    """
    status = 1
    # The first to be registered runs last, after those of libraries.
    atexit.register(lambda: _end(status))
    try:
        program.run(words)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if status == INTERRUPTED:
            # What an interrupt left half made, such as an event loop, fails when it is freed.
            sys.unraisablehook = lambda _: None
            warnings.simplefilter("ignore")
        raise


def _end(status: int) -> None:
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
