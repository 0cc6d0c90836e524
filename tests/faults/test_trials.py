"""The fault injector: `./invoke test --faults N --seed S`.

Each trial takes a finished checkout, does it one random harm, and checks what a person relies on:
nothing outside of the folder changes, no traceback is printed, the result is a clear error or the
right bytes, no process or temporary file is left, and the next undisturbed run makes the same
environment.
"""

from functools import partial

import pytest

from faults import damages, fuzz, hostile, hostile_recipes, kills, mirror
from faults.room import FailureError, Play, Reference, Room, Trial, kind_of, randomness

KINDS: dict[str, Play] = {
    **{f"kill in {name}": partial(kills.play, name=name) for name in kills.SCENES},
    **{f"damage in {area}": partial(damages.play_cache, area=area) for area in damages.AREAS},
    "damage in an environment": damages.play_environment,
    "damage in an environment again": damages.play_environment,
    "damage in a lock": damages.play_lock,
    **{f"a misbehaving mirror {number}": mirror.play for number in (1, 2, 3)},
    "a full disk": kills.play_full_disk,
    "fuzzed settings": partial(fuzz.play, files=fuzz.SETTINGS),
    "fuzzed locks": partial(fuzz.play, files=fuzz.LOCKS),
    "fuzzed state": fuzz.play_state,
    **{f"a hostile conda package {number}": hostile.play_conda for number in (1, 2)},
    "a hostile wheel": hostile_recipes.play_wheel,
    "a hostile deb": hostile_recipes.play_deb,
    "concurrent builds": kills.play_concurrent,
    "another user's cache": kills.play_other_user,
}


def test_trial(reference: Reference, seed: int, number: int) -> None:
    kind = kind_of(seed, number, list(KINDS))
    trial = Trial(Room(reference), randomness(seed, number))
    trial.room.enter()
    failure = None
    try:
        KINDS[kind](trial)
    except FailureError as error:
        failure = error
    if failure:
        # How to repeat it, what was done, what came out; without a traceback of the injector.
        repeat = f"./invoke test --faults 1 --seed {seed} --trial {number}"
        lines = [f"{kind}: {failure}", f"repeat with: {repeat}", *trial.story]
        pytest.fail("\n".join(map(str, [*lines, *trial.room.runs])), pytrace=False)


def test_a_block_of_trials_has_every_kind_once_in_an_order_of_the_seed() -> None:
    kinds = list(KINDS)
    first = [kind_of(1, number, kinds) for number in range(len(kinds))]
    second = [kind_of(1, len(kinds) + number, kinds) for number in range(len(kinds))]
    assert sorted(first) == sorted(second) == sorted(kinds)
    assert first != second
    assert first[17] == kind_of(1, 17, kinds)
    assert randomness(1, 17).random() == randomness(1, 17).random() != randomness(2, 17).random()
