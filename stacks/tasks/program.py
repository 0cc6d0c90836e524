"""The command line: invoke's program, with --verbose and this project's error messages."""

import atexit
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress

import invoke
import invoke.config
import invoke.program
from invoke.exceptions import Exit, ParseError
from invoke.parser import Parser
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext

from stacks.core.console import PROGRAM, as_typed, show_error, start_log
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError, UsageError, nearest
from stacks.core.process import ended_once, quoted
from stacks.tasks.help import name_of, render_help, with_each_file
from stacks.tasks.options import is_variant
from stacks.tasks.task import DECLARED, INTERRUPTED
from verify.core import surroundings


class Config(invoke.config.Config):
    """invoke's configuration, without that of the person's own projects: ~/.invoke.yaml, INVOKE_*.

    No variable can have this prefix.
    """

    prefix = "theano-stacks"

    def load_base_conf_files(self) -> None:
        """Load no file: HOME may be a file, or another user's."""


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

    def parse_core(self, argv: list[str] | None) -> None:
        """Parse invoke's own options, and `TASK --help`, also where the task lacks an argument.

        Help without a task is the list of them, as without words.
        """
        super().parse_core(argv)
        words, asked = self.core.unparsed, self.args.help
        # A task may have -h for an option of its own.
        if "--help" in words[1:] and not words[0].startswith("-"):
            asked.set_value(words[0], cast=False)
            words.clear()
        elif asked.value is True:
            asked.set_value(None, cast=False)

    def execute(self) -> None:
        """Run the tasks, and keep a log."""
        start_log(verbose=self.args.verbose.value)
        with ended_once():
            super().execute()

    def parse_tasks(self) -> None:
        """Parse the tasks' words; show an error and exit with status 2 if they are not valid."""
        tasks = self._make_parser().contexts
        words = self.core.unparsed
        self.core.unparsed = with_variant(words, tasks)
        try:
            if not self.core.remainder and is_command(words):
                raise ParseError(f"No idea what '{words[1]}' is!")
            super().parse_tasks()
        # ValueError: the value of an option is no number.
        except (ParseError, ValueError) as error:
            show_error(command_line_error(words, tasks, self.initial_context, str(error)))
            raise Exit(code=UsageError.exit_code) from error

    def _make_parser(self) -> Parser:
        # Once: invoke gives the texts of the options once.
        self._parser = getattr(self, "_parser", None) or super()._make_parser()
        return self._parser

    def parse_cleanup(self) -> None:
        """Show the help or list asked for; a misspelt task's help is an error."""
        name = self.args.help.value
        if isinstance(name, str) and name not in self.parser.contexts:
            show_error(unknown_task(name, list(self.parser.contexts)))
            raise Exit(code=UsageError.exit_code)
        super().parse_cleanup()

    def print_task_help(self, name: str) -> None:
        """Print what a task does, its options, and examples."""
        print(render_help(self.parser.contexts[name]))

    def print_version(self) -> None:
        """Print the version of this project, and the commit."""
        # Loaded here: it starts git.
        from stacks.core.workspace import described

        print(f"theano-stacks {described()}")

    def no_tasks_given(self) -> None:
        """Show how a command line is made, and the tasks."""
        print(as_typed("Usage: ./invoke [-v] TASK [OPTIONS] [-- WORDS]\n"))
        self.list_tasks()
        print(as_typed("./invoke TASK --help shows what a task does, its options, and examples."))
        print("-v shows each command that runs, each file fetched and each package built.")
        print(as_typed("--variant may be left out right after a task: ./invoke build mkl"))
        raise Exit


def command_line_error(
    words: Sequence[str], tasks: Mapping[str, ParserContext], core: ParserContext, message: str
) -> StacksError:
    """Return the error for words that invoke could not parse; `message` is its own."""
    first = words[0].partition("=")[0]
    if first.startswith("-"):
        near = nearest(first, core.flags)
        fix = f"did you mean {near}?" if near else "`./invoke --help` shows them"
        task = next((word for word in words if word in tasks), "")
        if task and first in tasks[task].flags:
            fix = f"the options of a task follow its name: ./invoke {task} {first} ..."
        return UsageError(f"there is no option {first} before a task", fix=fix)
    task = words[0]
    help_of = f"`./invoke {task} --help` shows its options"
    if task not in tasks:
        return unknown_task(task, list(tasks))
    flags = {**core.flags, **tasks[task].flags}
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        if word == "--":
            break
        name, _, value = word.partition("=")
        if f"-{name}" in flags:
            return UsageError(f"{task} has no option {name}", fix=f"did you mean -{name}?")
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
    unknown = re.search("No idea what '(.*)' is", message)
    # The value of a flag, as in `--full=3`, is no word of the line.
    if unknown and unknown[1] in words:
        # In `run python x`, python stands where the name of a variant may.
        named = words[1].startswith("-") or is_variant(words[1])
        word = unknown[1] if named else words[1]
        at = words.index(word)
        python = ["python"] if word.endswith(".py") else []
        fix = quoted(["./invoke", *words[:at], "--", *python, *words[at:]])
        return UsageError(
            f"{task} has no use for the word {word!r}",
            fix=f"a program comes after --: {fix}" if DECLARED[task].takes_command else help_of,
        )
    return UsageError(f"the words after {task} cannot be read", found=message, fix=help_of)


def is_command(words: Sequence[str]) -> bool:
    """Return whether words have a program where a variant may be, as `run python -c 1` has.

    Its options would be taken for the task's.
    """
    task, *others = words or [""]
    has_option = len(others) > 1 and re.fullmatch("-[a-z]", others[1])
    named = not others or others[0].startswith("-") or is_variant(others[0])
    return task in DECLARED and DECLARED[task].takes_command and bool(has_option) and not named


def with_variant(words: Sequence[str], tasks: Mapping[str, ParserContext]) -> list[str]:
    """Return the words of a command line with `build mkl` as `build --variant mkl`.

    So it is for tasks that can do without a variant; invoke itself does it for the others.
    """
    given: list[str] = []
    for word in words:
        flags = tasks[given[-1]].flags if given and given[-1] in tasks else {}
        is_optional = "--variant" in flags and not flags["--variant"].positional
        if is_optional and not (word.startswith("-") or word.endswith(".py") or word in tasks):
            given.append("--variant")
        given.append(word)
    return given


def unknown_task(name: str, tasks: Sequence[str]) -> StacksError:
    """Return the error for a task that is not there."""
    near = None if name == "help" else nearest(name, tasks)
    return UsageError(
        f"there is no task {name!r}",
        fix=f"did you mean `./invoke {near}`?" if near else "`./invoke` shows the tasks",
    )


def new_program() -> Program:
    """Return the program of the tasks in tasks.py."""
    binary = as_typed(PROGRAM)
    names = [binary, "invoke"]
    return Program(name="theano-stacks", binary=binary, binary_names=names, config_class=Config)


def words_of(words: Sequence[str]) -> list[str]:
    """Return a command line as invoke reads it, from the words after ./invoke."""
    return [as_typed(PROGRAM), "--search-root", str(REPOSITORY), *with_each_file(words)]


def main() -> None:
    """Run the tasks of the command line."""
    surroundings.open_streams()
    # A path may have letters that the terminal's encoding lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    run_to_end(new_program(), words_of(sys.argv[1:]))


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
        if status > 128:
            # What an interrupt left half made, such as an event loop, fails when it is freed.
            sys.unraisablehook = lambda _: None
            warnings.simplefilter("ignore")
        raise
    finally:
        # Nobody would catch what is raised in the interpreter's own end.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end(status: int) -> None:
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
