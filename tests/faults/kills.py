"""Kills at a random moment of each step of a build, builds at once, other users, full disks."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from integration.tiny import as_user

from faults.mirror import INVENTED
from faults.room import MARKER, Room, Trial, skip_without_root
from faults.trees import remove

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# The exit statuses of a run that a signal ended; 130 is that of the tasks.
ENDED = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (-signal.SIGTERM, 128 + signal.SIGTERM),
    signal.SIGINT: (-signal.SIGINT, 130),
}


def prepare_fetch(room: Room) -> None:
    room.without("sources/*")
    (room.root / "pins.json").write_text(json.dumps([asdict(pin) for pin in INVENTED]))


def damage_environment(room: Room) -> None:
    target = room.place("by-conda") / "lib/python2.7/os.py"
    target.unlink()
    target.write_text("# damaged\n")


def without_small_packages(room: Room) -> None:
    room.without("unpacked/six*", "unpacked/wheel*")
    for archive in room.cached("packages/*/six-*") + room.cached("packages/*/wheel-*"):
        remove(archive.parent)


def spoil_marker(room: Room) -> None:
    """Have the environment made again in place of the one that is there."""
    marker = room.place("by-conda") / MARKER
    marker.unlink()
    marker.write_text("{}")


@dataclass(frozen=True)
class Scene:
    """What is taken away first, and the task that has work to do then."""

    words: tuple[str, ...]
    prepare: Callable[[Room], None]
    variant: str = "by-conda"


BY_CONDA, BY_PIP = (("make", "--variant", name) for name in ("by-conda", "by-pip"))
SCENES = {
    "fetch": Scene(("fetch", "--pins", "pins.json"), prepare_fetch, "by-pip"),
    "unpack": Scene(BY_CONDA, lambda room: room.without("unpacked")),
    "package": Scene(BY_CONDA, without_small_packages),
    "link": Scene(BY_CONDA, lambda room: room.without()),
    "pip": Scene(BY_PIP, lambda room: room.without(), "by-pip"),
    "replace": Scene(BY_CONDA, spoil_marker),
    "verify": Scene(("verify", "--variant", "by-conda"), lambda room: None),
    "repair": Scene((*BY_CONDA, "--repair"), damage_environment),
}


def play(trial: Trial, name: str) -> None:
    """Strike a run at a random moment; the next one must make the same environment."""
    room, random, scene = trial.room, trial.random, SCENES[name]
    chosen = random.choice(SIGNALS)
    part, group = random.random(), random.random() < 0.5
    # Native code has no audited events; a delay reaches into it.
    delay = random.choice((0.0, 0.0, random.uniform(0.0, 0.3)))
    events = room.reference.events
    if name not in events:
        # As many as the undisturbed run has.
        file = room.base / "events"
        scene.prepare(room)
        room.run(*scene.words, plan={"count_file": str(file)})
        events[name] = int(file.read_text())
        file.unlink()
        room.runs.clear()
        room.enter()
    scene.prepare(room)
    event = 1 + int(part * events[name])
    trial.tell(
        f"{chosen.name} to the {'group' if group else 'process'} in `{name}`, {delay:.3f} s after "
        f"the audited event {event} of {events[name]}"
    )
    plan = {"event": event, "delay": delay, "signal": int(chosen), "group": group}
    done = room.run(*scene.words, plan=plan)
    if done.status and done.status not in ENDED[chosen]:
        # It ended first, or a child that was struck too was missed.
        room.check_error(done)
    if name not in ("repair", "verify"):
        room.check_nothing_half_made(done, scene.variant)
    if name in ("fetch", "repair"):
        room.check_surroundings()
        again = room.run(*scene.words)
        again.check(again.status == 0, f"the next undisturbed {name} fails")
    room.check_undisturbed(scene.variant, anew=False)


PREPARED: dict[str, Callable[[Room], None]] = {
    "all cached": lambda room: room.without(),
    "not unpacked": lambda room: room.without("unpacked"),
    "small packages not built": without_small_packages,
    "no sources": lambda room: room.without("sources/*"),
}
OTHER_USER = 65534  # `nobody` of every Linux


def prepare(trial: Trial) -> tuple[Room, str]:
    """Take something away, by chance; return the room and the variant to make."""
    state = trial.random.choice(sorted(PREPARED))
    PREPARED[state](trial.room)
    variant = trial.random.choice(("by-conda", "by-pip"))
    trial.tell(f"{variant}, {state}")
    return trial.room, variant


def play_concurrent(trial: Trial) -> None:
    """Make environments in two or three processes at once; one of them may be killed."""
    random, (room, first) = trial.random, prepare(trial)
    more = random.choice((1, 1, 2))
    variants = [first, *(random.choice(("by-conda", "by-pip")) for _ in range(more))]
    killed, event = random.choice((None, None, 0, 1)), random.randint(1, 1700)
    trial.tell(f"{' and '.join(variants)} at once")
    if killed is not None:
        trial.tell(f"the process {killed} is killed at its audited event {event}")
    processes = []
    for number, variant in enumerate(variants):
        plan = {"event": event if number == killed else 0}
        processes.append(room.start("make", "--variant", variant, plan=plan))
        time.sleep(random.choice((0.0, 0.0, random.uniform(0.0, 0.4))))
    ended = [room.ended(process) for process in processes]
    for number, (variant, done) in enumerate(zip(variants, ended, strict=True)):
        if number == killed:
            done.check(done.status in (0, -signal.SIGKILL), "expected the exit status 0 or -9")
        else:
            done.check(done.status == 0, "a build beside others fails")
            room.check_tree(done, variant)
    room.check_undisturbed(*sorted(set(variants)), anew=False)


def play_other_user(trial: Trial) -> None:
    """Build as another user, who may only read the cache; then the owner builds again."""
    skip_without_root()
    room, variant = prepare(trial)
    (room.root / "build").mkdir(exist_ok=True)
    for path in (room.root, room.root / "build", room.temporary):
        os.chown(path, OTHER_USER, OTHER_USER)
    umask = trial.random.choice((0o022, 0o077, 0o002))
    trial.tell(f"user {OTHER_USER} makes it with root's cache, umask {umask:o}")
    before = os.umask(umask)
    try:
        done = room.run("make", "--variant", variant, wrapper=as_user(OTHER_USER))
    finally:
        os.umask(before)
    room.check_result(done, variant, str(room.cache), str(room.root))
    owned = [p for p in room.cache.rglob("*") if p.lstat().st_uid == OTHER_USER]
    done.check(not owned, f"another user wrote in the cache: {owned[:3]}")
    os.chown(room.root, 0, 0)
    room.without()
    remove(room.temporary)
    room.temporary.mkdir()
    room.check_undisturbed(variant)


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[None]:
    """Put a tmpfs of a size in bytes over a folder for the block, with the folder's files."""
    aside = path.with_name(f"{path.name}.aside")
    path.mkdir(exist_ok=True, parents=True)
    path.rename(aside)
    path.mkdir()
    mount("-t", "tmpfs", "-o", "size=1g", "tmpfs", str(path))
    try:
        subprocess.run(["cp", "-a", f"{aside}/.", path], check=True)
        remove(aside)
        used = int(subprocess.check_output(["du", "-s", "-B1", path]).split()[0])
        mount("-o", f"remount,size={used + size}", str(path))
        yield
        mount("-o", "remount,size=1g", str(path))
        subprocess.run(["cp", "-a", path, aside], check=True)
    finally:
        subprocess.run(["umount", path], check=True)
    path.rmdir()
    aside.rename(path)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def play_full_disk(trial: Trial) -> None:
    """Make an environment on a disk with too little room, then with enough."""
    random, (room, variant) = trial.random, prepare(trial)
    if random.random() < 0.25:
        size = int(10 ** random.uniform(2.5, 6.8))
        trial.tell(f"no file above {size} bytes")
        done = room.run("make", "--variant", variant, plan={"file_size": size})
    else:
        skip_without_root()
        folder = random.choice((room.cache, room.root / "build", room.temporary))
        size = int(10 ** random.uniform(3.5, 7.7))
        trial.tell(f"{size} bytes free at {folder.relative_to(room.base)}")
        try:
            with small_disk(folder, size):
                done = room.run("make", "--variant", variant)
                if done.status:
                    room.check_error(done, str(folder), folder.name, "TMPDIR", "space")
        except subprocess.CalledProcessError as error:
            if error.cmd[0] != "mount":
                raise
            pytest.skip("this machine mounts no tmpfs")
    room.check_result(done, variant)
    room.check_undisturbed(variant)
