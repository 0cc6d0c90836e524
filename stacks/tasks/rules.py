"""Which options of a task go together: declared with the options, checked before the task runs.

A rule names options as a user types them, without dashes, and lists them between blanks. `to=oci`
is one value of an option; `--` is a program after `--`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stacks.core.errors import UsageError, unknown


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


# Returns the error of a command line, None if it keeps the rule.
Rule = Callable[[CommandLine], UsageError | None]


def excludes(option: str, others: str, why: str) -> Rule:
    """Return the rule that others have no meaning with an option; why: ends the message."""

    def fault(line: CommandLine) -> UsageError | None:
        present = line.given(others)
        if not (line.has(option) and present):
            return None
        names = _listed(present, "and")
        return UsageError(f"{_typed(option)} {why}", found=names, fix=f"leave out {names}")

    return fault


def needs(option: str, others: str) -> Rule:
    """Return the rule that an option has a meaning only with one of others."""

    def fault(line: CommandLine) -> UsageError | None:
        if not line.has(option) or line.given(others):
            return None
        names = _listed(others.split(), "or")
        fix = f"add {names}, or leave out {_typed(option)}"
        return UsageError(f"{_typed(option)} needs {names}", fix=fix)

    return fault


def one_of(options: str) -> Rule:
    """Return the rule that exactly one of several options is needed."""

    def fault(line: CommandLine) -> UsageError | None:
        present = line.given(options)
        if len(present) == 1:
            return None
        found = _listed(present, "and") if present else "none of them"
        return UsageError(f"give exactly one of {_listed(options.split(), 'and')}", found=found)

    return fault


def values(option: str, known: str) -> Rule:
    """Return the rule that an option has one of some values, or its default."""

    def fault(line: CommandLine) -> UsageError | None:
        value = line.values[option]
        if not line.has(option) or value in known.split():
            return None
        return unknown(f"value of --{option}", value, known.split())

    return fault


def check(
    rules: Sequence[Rule], task: Callable[..., None], options: Mapping[str, Any], program: list[str]
) -> None:
    """Raise the error of the first rule that a command line breaks."""
    parameters = inspect.signature(task).parameters
    defaults = {_option(name): each.default for name, each in parameters.items()}
    given = {_option(name): value for name, value in options.items()}
    line = CommandLine({**defaults, **given}, defaults, program)
    for rule in rules:
        if error := rule(line):
            raise error


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
