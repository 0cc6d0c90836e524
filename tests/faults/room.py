"""A trial, the folder that it plays in, and what must hold there.

The folder is a copy of a finished checkout and cache. The kind of a trial and its random choices
follow from the seed and its number.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from integration.programs import opened
from unit.helpers.environments import add

from faults.mirror import Mirror
from faults.trees import Tree, differences, ended_within, names_in, processes_of, remove, tree
from stacks.core.disk import REPOSITORY

PROGRAM = Path(__file__).with_name("program.py")
VARIANTS = ("by-conda", "by-pip")
MARKER = "etc/theano-stacks/ready.json"
# What the cache keeps of a build, beside the package: a package that was lost is built again.
RECORD = re.compile(r"built(/[0-9a-f]{64})?")
# How long processes may need to end after their parent, and a run at most; seconds.
ENDING, LONGEST = 10.0, 120.0
SHOWN = 6000


class FailureError(AssertionError):
    """What a trial found."""


@dataclass(frozen=True)
class Done:
    """A process that ended: its words, exit status and output."""

    words: tuple[str, ...]
    status: int
    out: str
    err: str

    def __str__(self) -> str:
        text = f"$ {' '.join(self.words)}\nexit status {self.status}\n"
        return text + "".join(
            f"--- {name}\n{_shortened(output)}"
            for name, output in (("stdout", self.out), ("stderr", self.err))
            if output
        )

    def check(self, holds: object, what: str) -> None:
        """Fail, naming this process, if something does not hold after it."""
        if not holds:
            raise FailureError(f"{what}\nafter: {' '.join(self.words)}")


@dataclass(frozen=True)
class Reference:
    """The finished checkout, at the path that each trial's copy gets.

    trees: each environment's files. cached: the names in the cache. events: how many audited
    events the undisturbed run of each scene has, counted at its first use.
    """

    base: Path
    mirror: Mirror
    trees: Mapping[str, Tree]
    cached: frozenset[str]
    events: dict[str, int] = field(default_factory=dict)

    @property
    def pristine(self) -> Path:
        return self.base / "pristine"


@dataclass
class Room:
    """A copy of the reference, with files beside it that nothing may touch."""

    reference: Reference
    runs: list[Done] = field(default_factory=list)
    beside_before: Tree = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base = self.reference.base
        self.root = self.base / "room"
        self.cache = self.root / "cache"
        self.temporary = self.base / "tmp"
        # Stands for the rest of the machine; it has the home folder.
        self.beside = self.base / "beside"

    def place(self, variant: str) -> Path:
        return self.root / "build/prefixes/tiny" / variant

    def enter(self) -> None:
        """Make the copy, the empty temporary folder and the files beside."""
        for path in (self.root, self.temporary, self.beside):
            remove(path)
        subprocess.run(["cp", "-a", self.reference.pristine, self.root], check=True)
        self.temporary.mkdir()
        for name in ("home/.profile", "etc/passwd", "evil/kept"):
            add(self.beside, name, "a person's\n")
        (self.beside / "link").symlink_to("home")
        self.beside_before = tree(self.beside)

    def cached(self, pattern: str) -> list[Path]:
        """Return the files of the cache that match, sorted; never locks."""
        found = (p for p in self.cache.glob(pattern) if p.is_file() and not p.is_symlink())
        return sorted(p for p in found if not p.name.endswith(".lock"))

    def without(self, *patterns: str) -> None:
        """Remove the environments, and what matches in the cache."""
        remove(self.root / "build")
        for pattern in patterns:
            for path in self.cache.glob(pattern):
                remove(path)

    def start(
        self,
        *words: str,
        plan: Mapping[str, object] | None = None,
        wrapper: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start the program with a task's words, as the leader of a session of its own.

        plan: values of fields of program.Plan.
        """
        url = self.reference.mirror.url
        environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(self.beside / "home"),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "tests"))),
            "THEANO_STACKS_CACHE": str(self.cache),
            "THEANO_STACKS_MODULES": "0",
            "DEBIAN_MIRROR": f"{url}/debian",
            "PIP_INDEX_URL": f"{url}/simple",
            "PIP_CONFIG_FILE": os.devnull,
            "FAULT_ROOT": str(self.root),
            "FAULT_PLAN": json.dumps(plan or {}),
            **(variables or {}),
        }
        return opened(
            [*wrapper, sys.executable, PROGRAM, *words],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            errors="backslashreplace",
            start_new_session=True,
        )

    def ended(self, process: subprocess.Popen[str]) -> Done:
        """Wait for a program; fail for a traceback or a process that does not end."""
        words = [str(word) for word in process.args]  # type: ignore[union-attr]
        late = False
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            late = True
        done = Done(tuple(words[words.index(str(PROGRAM)) + 1 :]), process.returncode, out, err)
        self.runs.append(done)
        done.check(not late, f"it still ran after {LONGEST:.0f} s")
        done.check("Traceback" not in out + err, "a traceback")
        done.check("panicked" not in out + err, "a panic of native code")
        return done

    def run(self, *words: str, **options: Any) -> Done:
        """Start the program, with the options of `start`, and wait for it."""
        return self.ended(self.start(*words, **options))

    def check_result(self, done: Done, variant: str, *names: str) -> None:
        """Check that a run gave the right bytes, or a clear error that has one of the names."""
        if done.status == 0:
            self.check_tree(done, variant)
        else:
            self.check_error(done, *names)
            self.check_nothing_half_made(done, variant)

    def check_error(self, done: Done, *names: str) -> None:
        """Check that a run ended with an error for people."""
        done.check(done.status in (1, 2), "expected the exit status 0, 1 or 2")
        done.check("error: " in done.err, "expected a line `error: ...`")
        done.check("fix:" in done.err or "expected" in done.err, "the error says no fix")
        named = not names or any(name in done.err for name in names)
        done.check(named, f"the error names none of: {', '.join(names)}")

    def check_nothing_half_made(self, done: Done, variant: str) -> None:
        """Check that an environment is whole or missing; an old one may lack its marker."""
        if self.place(variant).exists():
            self.check_tree(done, variant, MARKER)

    def check_tree(self, done: Done, variant: str, *ignored: str) -> None:
        """Check that an environment has the reference's files, modes and links."""
        found, expected = tree(self.place(variant)), dict(self.reference.trees[variant])
        # What `verify files` has read; it has times of the machine.
        for name in ("var/checked.json", *ignored):
            found.pop(name, None)
            expected.pop(name, None)
        faults = differences(found, expected)
        done.check(not faults, f"{variant} differs from the reference: {'; '.join(faults[:5])}")

    def check_surroundings(self) -> None:
        """Check that no process is left and nothing outside of the room changed."""
        last = self.runs[-1]
        left = ended_within(ENDING, lambda: list(processes_of(self.root)))
        for process in left:
            os.kill(process[0], signal.SIGKILL)
        last.check(not left, f"processes are left: {left}")
        faults = differences(tree(self.beside), self.beside_before)
        last.check(not faults, f"files outside of the folder changed: {'; '.join(faults[:5])}")
        names = {p.name for p in self.base.iterdir()} - {"room", "pristine", "tmp", "beside"}
        last.check(not names, f"new beside the room: {names}")

    def check_undisturbed(self, *variants: str, anew: bool = True) -> None:
        """Check that the next run makes the environments, and collects what the faults left.

        anew: without the environments that are there.
        """
        self.check_surroundings()
        if anew:
            self.without()
        for variant in variants or VARIANTS:
            done = self.run("make", "--variant", variant)
            done.check(done.status == 0, "the next undisturbed run fails")
            self.check_tree(done, variant)
        self.check_surroundings()
        self.check_leftovers()

    def check_leftovers(self) -> None:
        """Check that nothing is left of the disturbed runs."""
        last = self.runs[-1]
        temporary = [p.name for p in self.temporary.iterdir()]
        last.check(not temporary, f"left in the temporary folder: {temporary}")
        found = {name for name in names_in(self.cache) if not RECORD.fullmatch(name)}
        extra = found - self.reference.cached
        last.check(not extra, f"left in the cache: {', '.join(sorted(extra)[:5])}")
        parts = [p for p in (self.root / "build").rglob(".*.part") if p.is_dir()]
        last.check(not parts, f"left in build: {[p.name for p in parts]}")


def _shortened(text: str) -> str:
    if len(text) > SHOWN:
        text = f"{text[: SHOWN // 2]}\n[...]\n{text[-SHOWN // 2 :]}"
    return text if text.endswith("\n") else f"{text}\n"


@dataclass
class Trial:
    """One fault in one room; `story` says what is done, for the message of a failure."""

    room: Room
    random: random.Random
    story: list[str] = field(default_factory=list)

    def tell(self, text: str) -> None:
        self.story.append(text)


Play = Callable[[Trial], None]


def skip_without_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")


def kind_of(seed: int, number: int, kinds: list[str]) -> str:
    """Return a trial's kind: each block of len(kinds) trials has all of them, shuffled."""
    block, place = divmod(number, len(kinds))
    shuffled = list(kinds)
    random.Random(f"{seed} {block}").shuffle(shuffled)
    return shuffled[place]


def randomness(seed: int, number: int) -> random.Random:
    """Return the trial's own source of random choices, the same on every Python."""
    return random.Random(f"{seed}/{number}")
