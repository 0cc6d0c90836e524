"""Results of single images, put together."""

from __future__ import annotations

from typing import Any

from stacks.bench import merge
from stacks.bench.result import Peak, Result, Subject
from stacks.bench.rows import rows
from unit.helpers.benching import BASE, FAST, MACHINE, OTHER, result, runs

DIGEST = "sha256:" + "d" * 64


def in_image(subject: Subject) -> Subject:
    return subject.model_copy(update={"image": DIGEST})


def of_image(subject: Subject, *values: float, **more: Any) -> Result:
    return result(runs(subject, values), in_image(subject), **more)


def test_images_timed_one_after_another_have_ratios_and_a_remark() -> None:
    later = "2026-11-21T06:30:00Z"
    fast = of_image(FAST, *[6.0] * 7, began=later)
    (one,) = merge.together([fast, of_image(BASE, *[2.0] * 7)])
    assert one.began == "2026-11-21T05:30:00Z" and one.seconds == 120.0
    assert [subject.id for subject in one.subjects] == [BASE.id, FAST.id]
    ratios = [row.ratio.value for row in rows(one.runs, one.subjects) if row.ratio]
    assert ratios == [3.0]
    assert one.remarks == (merge.ONE_AFTER_ANOTHER,)


def test_other_results_stay_as_they_are() -> None:
    outside = result(runs(BASE, [1.0]), BASE)
    one = of_image(FAST, 1.0)
    again = of_image(FAST, 2.0)
    elsewhere = of_image(BASE, 1.0, machine=MACHINE.model_copy(update={"cpu": "Elsewhere"}))
    other = of_image(OTHER.model_copy(update={"framework": "theano-0.8.2"}), 1.0)
    slow = of_image(
        OTHER, 1.0, settings=outside.settings.model_copy(update={"threads": (1,), "rounds": 5})
    )
    every = [outside, one, again, elsewhere, other, slow]
    assert [found.subjects for found in merge.together(every)] == [r.subjects for r in every]


def test_rounds_taken_in_turn_are_one_result() -> None:
    peak, higher = (Peak(dtype="float64", threads=2, gflops=value) for value in (10.0, 11.0))
    alone = Peak(dtype="float64", threads=1, gflops=6.0)
    machine = MACHINE.model_copy(update={"peak": (peak,)})
    better = MACHINE.model_copy(update={"peak": (higher, alone)})
    turns = [
        result([run], in_image(subject), machine=described)
        for subject, described in ((BASE, machine), (FAST, better))
        for run in runs(subject, [1.0, 2.0, 3.0])
    ]
    one = merge.merged(turns)
    assert one.settings.rounds == 3 and len(one.runs) == 6 and len(one.subjects) == 2
    assert [(p.threads, p.gflops) for p in one.machine.peak] == [(1, 6.0), (2, 11.0)]
    assert one.remarks == ()


def test_noise_is_a_remark() -> None:
    busy = [
        run.model_copy(update={"noise": run.noise.model_copy(update={"others": 1.5})})
        for run in runs(BASE, [1.0])
    ]
    assert "on up to 1.5 cores" in merge.together([result(busy, in_image(BASE))])[0].remarks[0]
