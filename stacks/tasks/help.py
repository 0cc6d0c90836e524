"""The help of a task, and the page of all commands."""

import textwrap
from collections.abc import Iterator, Sequence

from invoke.collection import Collection
from invoke.loader import FilesystemLoader
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext

from stacks.core.console import as_typed
from stacks.core.disk import REPOSITORY
from stacks.tasks.options import SHARED
from stacks.tasks.task import DECLARED

WIDTH = 80
# Columns of the options' names; a longer name has a line of its own.
NAMES = 24
# What stands for an option's value, where that is neither a number nor any TEXT.
VALUES = {
    **dict.fromkeys(("json", "file", "archive", "key", "new-key", "over"), "FILE"),
    **dict.fromkeys(("logs", "prefix"), "FOLDER"),
    "cluster": "ADDRESS",
    **dict.fromkeys(("variant", "framework", "extends", "workload"), "NAME"),
    **dict.fromkeys(("linker", "machine", "name"), "NAME"),
    **dict.fromkeys(("variants", "threads", "include", "expired"), "A,B,C"),
    **{"python": "PATH", "add": "FILE ...", "as": "FORMAT"},
}
COMMANDS = """# Commands

Made by `./invoke docs` from the code. `./invoke TASK --help` prints the same.

`./invoke -v TASK` shows each command that runs, each file fetched and each package built. After a \
failure, the same log is in `build/logs/`. A task that has a usual successor ends with a line that \
begins with `next:`. Help and tables take 80 columns in a pipe. Ctrl-C ends a task within \
seconds, and finished parts are kept. [Exit statuses](exit-statuses.md) are the same for all.

From other folders, or without a checkout: see [Install and upgrade](../guides/upgrade.md#install).

## Options of several tasks

| option | |
|---|---|
{shared}

Right after the task, `--variant` may be left out: `./invoke build mkl`. After `--`, the words of \
your program follow.
"""


def with_each_file(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with `--add A B` as `--add A --add B`, as invoke has it.

    So a shell's pattern names several files; each ends in .json.
    """
    given: list[str] = []
    for word in words:
        if given[-2:-1] == ["--add"] and not word.startswith("-") and word.endswith(".json"):
            given.append("--add")
        given.append(word)
    return given


def render_help(context: ParserContext) -> str:
    """Return the help of a task, at most 80 columns wide, from its options as invoke has them."""
    declared = DECLARED[str(context.name)]
    lines = [f"Usage: {usage_of(context)}", "", *_paragraphs(as_typed(declared.docstring))]
    if context.args:
        lines += ["", "Options:"]
        for name, text in options_of(context):
            lines += _entry(name, text)
    lines += ["", "Examples:", *(f"  ./invoke {example}" for example in declared.examples)]
    return as_typed("\n".join(lines))


def usage_of(context: ParserContext) -> str:
    """Return how a task's command line is made, in one line."""
    places, named = _places_and_named(context)
    words = ["./invoke", str(context.name), *(str(argument.name).upper() for argument in places)]
    words += [_name(argument) for argument in named if _is_required(argument)]
    words += ["[OPTIONS]"] * bool(named)
    return " ".join([*words, *["[-- WORDS]"] * DECLARED[str(context.name)].takes_command])


def options_of(context: ParserContext) -> list[tuple[str, str]]:
    """Return the options of a task, each with what it is for."""
    places, named = _places_and_named(context)
    return [
        *((str(argument.name).upper(), _text(argument)) for argument in places),
        *((_name(argument), _text(argument)) for argument in sorted(named, key=_name)),
    ]


def name_of(context: ParserContext, name: str) -> str:
    """Return an argument of a task as its usage shows it: FOLDER, or `--variant NAME`."""
    argument = context.args[name]
    return str(argument.name).upper() if _is_place(argument) else _name(argument)


def _places_and_named(context: ParserContext) -> tuple[list[Argument], list[Argument]]:
    arguments = context.args.values()
    places = [argument for argument in arguments if _is_place(argument)]
    return places, [argument for argument in arguments if not _is_place(argument)]


def _is_place(argument: Argument) -> bool:
    """Return whether an argument is shown as one that is given by its place."""
    return _is_required(argument) and argument.name not in ("variant", "to")


def _is_required(argument: Argument) -> bool:
    # What may be repeated is positional too, for invoke, and may be left out.
    return bool(argument.positional) and argument.kind is not list


def _name(argument: Argument) -> str:
    # `from_` is the option --from, because `from` cannot be a parameter of Python.
    name = str(argument.name).strip("_").replace("_", "-")
    if argument.kind is bool:
        return f"--[no-]{name}" if argument.default is True else f"--{name}"
    value = "N" if argument.kind is int else VALUES.get(name, "TEXT")
    return f"--{name} {value}"


def _text(argument: Argument) -> str:
    text, default = as_typed(argument.help or ""), argument.default
    # Numbers up to 0 stand for "not given".
    is_shown = (default or 0) > 0 if argument.kind is int else argument.kind is str and default
    return text + (f" (default: {default})" if is_shown and "(default" not in text else "")


def _entry(name: str, text: str) -> Iterator[str]:
    indent = " " * (NAMES + 2)
    lines = textwrap.wrap(text, WIDTH - len(indent), break_on_hyphens=False)
    first = f"  {name}"
    if len(first) >= len(indent):
        yield first
    else:
        yield (first.ljust(len(indent)) + lines.pop(0)) if lines else first
    yield from (indent + line for line in lines)


def _paragraphs(docstring: str) -> Iterator[str]:
    for number, paragraph in enumerate(docstring.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, WIDTH, break_on_hyphens=False)


def all_tasks() -> Collection:
    """Return the tasks of tasks.py."""
    module, _ = FilesystemLoader(start=str(REPOSITORY)).load("tasks")
    tasks = Collection.from_module(module)
    for name in tasks.task_names:
        # invoke takes the texts away when it first reads a task's options.
        tasks[name].help = dict(DECLARED[name].options)
    return tasks


def commands() -> str:
    """Return the page of all commands."""
    names = {name: f"--{name} {VALUES.get(name, 'TEXT')}" for name in SHARED} | {"full": "--full"}
    shared = "\n".join(f"| `{names[name]}` | {_cell(text)} |" for name, text in SHARED.items())
    contexts = sorted(all_tasks().to_contexts(), key=lambda context: str(context.name))
    sections = (part for context in contexts for part in _command(context))
    return "\n".join([COMMANDS.replace("{shared}", shared), *sections])


def _command(context: ParserContext) -> Iterator[str]:
    declared = DECLARED[str(context.name)]
    paragraphs = [" ".join(part.split()) for part in declared.docstring.split("\n\n")]
    yield f"## {context.name}\n"
    yield "\n\n".join(paragraphs) + "\n"
    examples = "\n".join(f"./invoke {example}" for example in declared.examples)
    yield f"Usage: `{usage_of(context)}`\n\n```sh\n{examples}\n```\n"
    options = options_of(context)
    known = [option for option, text in options if text in SHARED.values()]
    if rows := [f"| `{o}` | {_cell(text)} |" for o, text in options if o not in known]:
        yield "\n".join(["| option | |", "|---|---|", *rows, ""])
    if known:
        yield f"Also: {', '.join(f'`{option}`' for option in known)}.\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
