"""The pages of the reference that follow from the code: commands and files."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from invoke.collection import Collection
from invoke.loader import FilesystemLoader

from stacks.core.console import display_path
from stacks.core.disk import REPOSITORY, write_atomically
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.project import file_reference
from stacks.tasks.help import options_of, usage_of
from stacks.tasks.task import EXAMPLES, HELP, TAKING_COMMANDS

COMMANDS = """# Commands

Made by `./invoke docs` from the code; do not edit. `./invoke TASK --help` prints the same.

`./invoke -v TASK` shows each command that runs, each file fetched and each package built. After a \
failure, the same log with times is in `build/logs/`, and the error names the file. \
[Exit statuses](exit-statuses.md) are the same for all commands.

From other folders, start it by a link in a folder of `PATH`: \
`ln -s "$PWD/invoke" ~/.local/bin/theano-stacks`. The link finds its checkout, and relative paths \
are taken from the folder where you type. Without a checkout, the wheel of a release gives \
`theano-stacks` with the same tasks ([install](../guides/upgrade.md#install)).

A task that has a usual successor ends with it, in one line that begins with `next:`. Help and \
tables take 80 columns where they are not on a terminal. Colours are for a terminal only; \
`NO_COLOR=1` leaves them out there, too. Ctrl-C ends each task within a second, in one line; what \
was finished is kept.
"""


def write(workspace: Workspace) -> None:
    """Write the pages."""
    for path, text in pages(workspace).items():
        write_atomically(path, text)


def check(workspace: Workspace) -> None:
    """Raise StaleError with the committed pages that differ from what the code gives."""
    stale = [
        display_path(path)
        for path, text in pages(workspace).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what the code gives",
            fix="./invoke docs, then commit the files",
        )


def pages(workspace: Workspace) -> dict[Path, str]:
    """Return {path: text} of the pages."""
    folder = workspace.root / "docs/reference"
    return {
        folder / "commands.md": commands(all_tasks()),
        folder / "files.md": file_reference.document(),
    }


def all_tasks() -> Collection:
    """Return the tasks of tasks.py."""
    module, _ = FilesystemLoader(start=str(REPOSITORY)).load("tasks")
    tasks = Collection.from_module(module)
    for name in tasks.task_names:
        # invoke takes the texts away when it first reads a task's options.
        tasks[name].help = dict(HELP[name])
    return tasks


def commands(tasks: Collection) -> str:
    """Return the page of all commands."""
    return "\n".join([COMMANDS, *_commands(tasks)])


def _commands(tasks: Collection) -> Iterator[str]:
    for context in sorted(tasks.to_contexts(), key=lambda context: str(context.name)):
        name = str(context.name)
        usage = usage_of(context, takes_command=name in TAKING_COMMANDS)
        docstring = inspect.getdoc(tasks[name]) or ""
        paragraphs = [" ".join(part.split()) for part in docstring.split("\n\n")]
        yield f"## {name}\n"
        yield "\n\n".join(paragraphs) + "\n"
        examples = "\n".join(f"./invoke {example}" for example in EXAMPLES[name])
        yield f"Usage: `{usage}`\n\n```sh\n{examples}\n```\n"
        if options := options_of(context):
            rows = (f"| `{option}` | {_cell(text)} |" for option, text in options)
            yield "\n".join(["| option | |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
