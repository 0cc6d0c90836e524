"""A trial: its kind, its random choices and its story, all from the seed and its number."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from faults.room import Room


@dataclass
class Trial:
    """One fault in one room; `story` says what is done, for the message of a failure."""

    seed: int
    number: int
    kind: str
    room: Room
    random: random.Random
    story: list[str] = field(default_factory=list)

    def tell(self, text: str) -> None:
        self.story.append(text)

    @property
    def command(self) -> str:
        """The command that repeats this trial alone."""
        return f"./invoke test --faults 1 --seed {self.seed} --trial {self.number}"


Play = Callable[[Trial], None]


def kind_of(seed: int, number: int, kinds: list[str]) -> str:
    """Return a trial's kind: each block of len(kinds) trials has all of them, shuffled."""
    block, place = divmod(number, len(kinds))
    shuffled = list(kinds)
    random.Random(f"{seed} {block}").shuffle(shuffled)
    return shuffled[place]


def randomness(seed: int, number: int) -> random.Random:
    """Return the trial's own source of random choices, the same on every Python."""
    return random.Random(f"{seed}/{number}")
