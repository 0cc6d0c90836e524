"""What the measurements share: options, environments, programs, turns, figures.

It stands outside the packages, and puts the checkout on the path first. On another Python, such as
that of an environment, it needs the standard library alone until environments are asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
# So that what a measurement has started ends with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

if TYPE_CHECKING:
    from stacks.variants.variant import Variant

Name = TypeVar("Name")
Value = TypeVar("Value")


def options(
    doc: str | None, *, rounds: int = 0, variants: str = "", busy: bool = False
) -> argparse.ArgumentParser:
    """Return a parser with --rounds and --variants, where these have a default, and --busy.

    doc: of the program; its first line describes it.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    if variants:
        text = "NAME or FRAMEWORK/NAME, by commas (default: %(default)s)"
        parser.add_argument("--variants", type=_names, default=variants, help=text)
    if rounds:
        text = "of each, in turn (default: %(default)s)"
        parser.add_argument("--rounds", type=int, default=rounds, help=text)
    if busy:
        parser.add_argument("--busy", type=int, default=0, help="endless loops beside it")
    return parser


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def environments(names: Iterable[str]) -> dict[str, tuple[Variant, Path]]:
    """Return {name: variant and environment's folder}; UsageError for one that is not built."""
    from stacks.core.workspace import default_workspace
    from stacks.environments.folders import ready_environment

    found = {}
    for name in names:
        framework, _, flavour = name.rpartition("/")
        found[name] = ready_environment(default_workspace(), flavour, framework or None)
    return found


def run(words: Sequence[object], env: Mapping[str, str] | None = None, **more: str) -> str:
    """Run a program and return its standard output; on failure print its output and stop.

    env: all of its variables, by default those of this process. more: added to them.
    """
    done = subprocess.run(
        [str(word) for word in words],
        env={**(os.environ if env is None else env), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def answer(words: Sequence[object], env: Mapping[str, str] | None = None, **more: str) -> Any:
    """Run a program as `run` does and return the JSON on the last line that it prints."""
    return json.loads(run(words, env, **more).splitlines()[-1])


def in_turn(
    rounds: int, names: Iterable[Name], measure: Callable[[Name], Value]
) -> dict[Name, list[Value]]:
    """Measure each of the names once in every round; return the values."""
    values: dict[Name, list[Value]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, found in values.items():
            found.append(measure(name))
    return values


@contextmanager
def endless_loops(number: int) -> Iterator[None]:
    """Run so many busy loops beside what is measured."""
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes, in seconds."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def line(figure: str, found: str) -> None:
    """Print one figure."""
    print(f"{figure:<52} {found}", flush=True)


def save(path: Path | None, content: object) -> None:
    """Write all samples as JSON into a file, if one was asked for."""
    if path:
        from stacks.core.disk import write_atomically

        write_atomically(path, json.dumps(content, indent=1).encode() + b"\n")
