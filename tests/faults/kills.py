"""Kills at a random moment of each step of a build."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass

from faults.mirror import INVENTED
from faults.plan import Plan
from faults.room import MARKER, Room, check
from faults.trees import remove
from faults.trial import Trial

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# The exit statuses of a run that a signal ended; 130 is that of the tasks.
ENDED = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (-signal.SIGTERM, 128 + signal.SIGTERM),
    signal.SIGINT: (-signal.SIGINT, 130),
}


@dataclass(frozen=True)
class Scene:
    """What is taken away first, and the task that has work to do then."""

    words: tuple[str, ...]
    prepare: Callable[[Room], None]
    variants: tuple[str, ...] = ("by-conda",)


def without(*patterns: str) -> Callable[[Room], None]:
    """Return the preparation that removes the environments and parts of the cache."""

    def prepare(room: Room) -> None:
        room.remove_environments()
        for pattern in patterns:
            for path in room.cache.glob(pattern):
                remove(path)

    return prepare


def prepare_fetch(room: Room) -> None:
    without("sources/*")(room)
    (room.root / "pins.json").write_text(json.dumps([asdict(pin) for pin in INVENTED]))


def damage_environment(room: Room) -> None:
    target = room.place("by-conda") / "lib/python2.7/os.py"
    target.unlink()
    target.write_text("# damaged\n")


def without_small_packages(room: Room) -> None:
    without("unpacked/six*", "unpacked/wheel*")(room)
    for archive in room.cached("packages/*/six-*") + room.cached("packages/*/wheel-*"):
        remove(archive.parent)


def spoil_marker(room: Room) -> None:
    """Have the environment made again in place of the one that is there."""
    marker = room.place("by-conda") / MARKER
    marker.unlink()
    marker.write_text("{}")


SCENES = {
    "fetch": Scene(("fetch", "--pins", "pins.json"), prepare_fetch, ("by-pip",)),
    "unpack": Scene(("make", "--variant", "by-conda"), without("unpacked")),
    "package": Scene(("make", "--variant", "by-conda"), without_small_packages),
    "link": Scene(("make", "--variant", "by-conda"), without()),
    "pip": Scene(("make", "--variant", "by-pip"), without(), ("by-pip",)),
    "replace": Scene(("make", "--variant", "by-conda"), spoil_marker),
    "verify": Scene(("verify", "--variant", "by-conda"), lambda room: None),
    "repair": Scene(("make", "--variant", "by-conda", "--repair"), damage_environment),
}


def play(trial: Trial, name: str) -> None:
    """Strike a run at a random moment; the next one must make the same environment."""
    room, random, scene = trial.room, trial.random, SCENES[name]
    chosen = random.choice(SIGNALS)
    part, group = random.random(), random.random() < 0.5
    # Native code has no audited events; a delay reaches into it.
    delay = random.choice((0.0, 0.0, random.uniform(0.0, 0.3)))
    scene.prepare(room)
    total = _count(trial, name, scene)
    plan = Plan(event=1 + int(part * total), delay=delay, signal=int(chosen), group=group)
    trial.tell(
        f"{chosen.name} to the {'group' if group else 'process'} in `{name}`, {delay:.3f} s after "
        f"the audited event {plan.event} of {total}"
    )
    done = room.run(*scene.words, plan=plan)
    struck = done.status in ENDED[chosen]
    if not struck:
        # It ended first, or a child that was struck too was missed.
        room.check_error(done) if done.status else None
    for variant in scene.variants:
        if name not in ("repair", "verify"):
            room.check_nothing_half_made(done, variant)
    if name == "fetch":
        room.check_surroundings()
        again = room.run(*scene.words)
        check(again, again.status == 0, "the next undisturbed fetch fails")
    if name == "repair":
        again = room.run(*scene.words)
        check(again, again.status == 0, "the next undisturbed repair fails")
    room.check_undisturbed(*scene.variants, anew=False)


def _count(trial: Trial, name: str, scene: Scene) -> int:
    known = name in trial.room.reference.events
    total = trial.room.count(name, *scene.words)
    if not known:
        scene.prepare(trial.room)
    return total
