"""Results of single images as one result, in which their ratios are."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.bench import noise
from stacks.bench.result import Peak, Result

ONE_AFTER_ANOTHER = (
    "the images were timed one after another, not in turn: what changed on the machine in between "
    "looks like a difference between them"
)


def together(results: Sequence[Result]) -> list[Result]:
    """Return the results with those of single images merged that belong together.

    These are of different images of one framework, timed on one machine with the same settings.
    Others are returned as they are.
    """
    groups: list[list[Result]] = []
    for result in sorted(results, key=lambda one: one.began):
        group = next((group for group in groups if _belongs(result, group)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return [
        group[0]
        if not _is_of_image(group[0])
        else merged(group, (ONE_AFTER_ANOTHER,) if len(group) > 1 else ())
        for group in groups
    ]


def merged(results: Sequence[Result], remarks: Sequence[str] = ()) -> Result:
    """Return one result with the runs of all, which are of one machine; add remarks on noise."""
    first = min(results, key=lambda one: one.began)
    peaks: dict[tuple[str, int], Peak] = {}
    for peak in (peak for one in results for peak in one.machine.peak):
        key = peak.dtype, peak.threads
        peaks[key] = max(peaks.get(key, peak), peak, key=lambda each: each.gflops)
    runs = tuple(run for one in results for run in one.runs)
    workloads = dict.fromkeys(name for one in results for name in one.settings.workloads)
    settings = {
        "workloads": tuple(workloads),
        "rounds": len({run.round for run in runs}),
        "threads": tuple(sorted({count for one in results for count in one.settings.threads})),
    }
    return first.model_copy(
        update={
            "seconds": round(sum(one.seconds for one in results), 1),
            "machine": first.machine.model_copy(
                update={"peak": tuple(peaks[key] for key in sorted(peaks))}
            ),
            "settings": first.settings.model_copy(update=settings),
            "subjects": tuple({s.id: s for one in results for s in one.subjects}.values()),
            "runs": runs,
            "remarks": (*noise.remarks([run.noise for run in runs]), *remarks),
        }
    )


def _is_of_image(result: Result) -> bool:
    return len(result.subjects) == 1 and result.subjects[0].image is not None


def _belongs(result: Result, group: Sequence[Result]) -> bool:
    first, frameworks = group[0], {one.subjects[0].framework for one in (*group, result)}
    return (
        all(map(_is_of_image, (*group, result)))
        and len(frameworks) == 1
        and result.subjects[0].id not in {one.subjects[0].id for one in group}
        and result.machine.same_hardware(first.machine)
        and result.settings == first.settings
    )
