"""The fault injector: `./invoke test --faults N --seed S`.

Each trial takes a finished checkout, does it one random harm, and checks what a person relies on:
nothing outside of the folder changes, no traceback is printed, the result is a clear error or the
right bytes, no process or temporary file is left, and the next undisturbed run makes the same
environment.
"""

from __future__ import annotations

from functools import partial

import pytest

from faults import builds, conda_archives, damages, fuzz, kills, mirrors, staged_archives
from faults.room import FailureError, Reference, Room
from faults.trial import Play, Trial, kind_of, randomness

KINDS: dict[str, Play] = {
    **{f"kill in {name}": partial(kills.play, name=name) for name in kills.SCENES},
    **{f"damage in {area}": partial(damages.play_cache, area=area) for area in damages.AREAS},
    "damage in an environment": damages.play_environment,
    "damage in an environment again": damages.play_environment,
    "damage in a lock": damages.play_lock,
    **{f"a misbehaving mirror {number}": mirrors.play for number in (1, 2, 3)},
    "a full disk": builds.play_full_disk,
    "fuzzed settings": partial(fuzz.play, files=fuzz.SETTINGS),
    "fuzzed locks": partial(fuzz.play, files=fuzz.LOCKS),
    "fuzzed state": fuzz.play_state,
    **{f"a hostile conda package {number}": conda_archives.play for number in (1, 2)},
    "a hostile wheel": staged_archives.play_wheel,
    "a hostile deb": staged_archives.play_deb,
    "concurrent builds": builds.play_concurrent,
    "another user's cache": builds.play_other_user,
}


def test_trial(reference: Reference, seed: int, number: int) -> None:
    kind = kind_of(seed, number, list(KINDS))
    room = Room(reference)
    trial = Trial(seed, number, kind, room, randomness(seed, number))
    room.enter()
    failure = failure_of(trial)
    if failure:
        # Outside of the handler, so that no traceback of the injector is shown.
        pytest.fail(report(trial, failure), pytrace=False)


def failure_of(trial: Trial) -> FailureError | None:
    try:
        KINDS[trial.kind](trial)
    except FailureError as failure:
        return failure
    return None


def report(trial: Trial, failure: FailureError) -> str:
    """Return the message of a failed trial: how to repeat it, what was done, what came out."""
    head = f"{trial.kind}: {failure}"
    story = "\n".join(trial.story)
    runs = "\n".join(str(done) for done in trial.room.runs)
    return f"{head}\nrepeat with: {trial.command}\n{story}\n{runs}"


def test_a_block_of_trials_has_every_kind_once_in_an_order_of_the_seed() -> None:
    kinds = list(KINDS)
    first = [kind_of(1, number, kinds) for number in range(len(kinds))]
    second = [kind_of(1, len(kinds) + number, kinds) for number in range(len(kinds))]
    assert sorted(first) == sorted(second) == sorted(kinds)
    assert first != second
    assert first[17] == kind_of(1, 17, kinds)
    assert randomness(1, 17).random() == randomness(1, 17).random() != randomness(2, 17).random()
