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
from stacks.project import schemas
from stacks.tasks.help import options_of, usage_of
from stacks.tasks.options import CHANNEL, FRAMEWORK, FULL, JSON, VARIANT
from stacks.tasks.task import EXAMPLES, HELP, TAKING_COMMANDS

# What several tasks take, in the same words: described once.
SHARED = {
    "--variant TEXT": VARIANT,
    "--framework TEXT": FRAMEWORK,
    "--channel TEXT": CHANNEL,
    "--json TEXT": JSON,
    "--full": FULL,
}
COMMANDS = """# Commands

Made by `./invoke docs` from the code. `./invoke TASK --help` prints the same.

`./invoke -v TASK` shows each command that runs, each file fetched and each package built. After a \
failure, the same log is in `build/logs/`. A task that has a usual successor ends with a line that \
begins with `next:`. Help and tables take 80 columns in a pipe. Ctrl-C ends a task within a \
second, and finished parts are kept. [Exit statuses](exit-statuses.md) are the same for all.

From other folders, or without a checkout: see [Install and upgrade](../guides/upgrade.md#install).

## Options of several tasks

| option | |
|---|---|
{shared}

Right after the task, `--variant` may be left out: `./invoke build mkl`. After `--`, the words of \
your program follow.
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
    return {folder / "commands.md": commands(all_tasks()), folder / "files.md": schemas.document()}


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
    shared = "\n".join(f"| `{option}` | {_cell(text)} |" for option, text in SHARED.items())
    return "\n".join([COMMANDS.replace("{shared}", shared), *_commands(tasks)])


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
        options = options_of(context)
        known = [option for option, text in options if SHARED.get(option) == text]
        if rows := [f"| `{o}` | {_cell(text)} |" for o, text in options if o not in known]:
            yield "\n".join(["| option | |", "|---|---|", *rows, ""])
        if known:
            yield f"Also: {', '.join(f'`{option}`' for option in known)}.\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
