"""Two or three builds at once, the cache of another user, and full disks."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.kills import without, without_small_packages
from faults.plan import Plan
from faults.room import check, needs_root
from faults.trees import remove
from faults.trial import Trial

PREPARED = {
    "all cached": without(),
    "not unpacked": without("unpacked"),
    "small packages not built": without_small_packages,
    "no sources": without("sources/*"),
}
# `nobody` of every Linux. It may read everything, so that it can run this Python wherever that is.
OTHER_USER = 65534
AS_OTHER_USER = (
    "setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
)  # fmt: skip


def play_concurrent(trial: Trial) -> None:
    """Make environments in two or three processes at once; one of them may be killed."""
    room, random = trial.room, trial.random
    state = random.choice(sorted(PREPARED))
    PREPARED[state](room)
    variants = [random.choice(("by-conda", "by-pip")) for _ in range(random.choice((2, 2, 3)))]
    killed = random.choice((None, None, 0, 1))
    event = random.randint(1, 1700)
    trial.tell(f"{' and '.join(variants)} at once, {state}")
    if killed is not None:
        trial.tell(f"the process {killed} is killed at its audited event {event}")
    processes = []
    for number, variant in enumerate(variants):
        plan = Plan(event=event if number == killed else 0)
        processes.append(room.start("make", "--variant", variant, plan=plan))
        time.sleep(random.choice((0.0, 0.0, random.uniform(0.0, 0.4))))
    ended = [room.ended(process) for process in processes]
    for number, (variant, done) in enumerate(zip(variants, ended, strict=True)):
        if number == killed:
            check(done, done.status in (0, -signal.SIGKILL), "expected the exit status 0 or -9")
        else:
            check(done, done.status == 0, "a build beside others fails")
            room.check_tree(done, variant)
    room.check_undisturbed(*sorted(set(variants)), anew=False)


def play_other_user(trial: Trial) -> None:
    """Build as another user, who may only read the cache; then the owner builds again."""
    if reason := needs_root():
        pytest.skip(reason)
    room, random = trial.room, trial.random
    state = random.choice(sorted(PREPARED))
    PREPARED[state](room)
    variant = random.choice(("by-conda", "by-pip"))
    trial.tell(f"user {OTHER_USER} makes {variant} with root's cache, {state}")
    (room.root / "build").mkdir(exist_ok=True)
    for path in (room.root, room.root / "build", room.temporary):
        os.chown(path, OTHER_USER, OTHER_USER)
    umask = random.choice((0o022, 0o077, 0o002))
    trial.tell(f"umask {umask:o}")
    before = os.umask(umask)
    try:
        done = room.run("make", "--variant", variant, wrapper=AS_OTHER_USER)
    finally:
        os.umask(before)
    room.check_result(done, variant, str(room.cache), str(room.root))
    owned = [p for p in room.cache.rglob("*") if p.lstat().st_uid == OTHER_USER]
    check(done, not owned, f"another user wrote in the cache: {owned[:3]}")
    os.chown(room.root, 0, 0)
    remove(room.root / "build")
    remove(room.temporary)
    room.temporary.mkdir()
    room.check_undisturbed(variant)


MEGABYTE = 1 << 20


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
    room, random = trial.room, trial.random
    state = random.choice(sorted(PREPARED))
    PREPARED[state](room)
    variant = random.choice(("by-conda", "by-pip"))
    if random.random() < 0.25:
        size = int(10 ** random.uniform(2.5, 6.8))
        trial.tell(f"{variant}, {state}, with no file above {size} bytes")
        done = room.run("make", "--variant", variant, plan=Plan(file_size=size))
        room.check_result(done, variant)
        room.check_undisturbed(variant)
        return
    if reason := needs_root():
        pytest.skip(reason)
    folder = random.choice((room.cache, room.root / "build", room.temporary))
    size = int(10 ** random.uniform(3.5, 7.7))
    trial.tell(f"{variant}, {state}, {size} bytes free at {folder.relative_to(room.base)}")
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
