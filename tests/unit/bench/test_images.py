"""Images that take turns: an engine that answers as one with two images would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from stacks.bench import images, store
from stacks.bench.result import Peak, Result, Subject
from stacks.bench.rows import rows
from stacks.bench.schedule import BenchOptions
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.image import engine as engines
from stacks.image.engine import Engine, EngineError
from unit.helpers.benching import BASE, FAST, MACHINE, OTHER, result, run, runs, subject

DIGEST = "sha256:" + "d" * 64
QUICK = BenchOptions(quick=True, rounds=5, workload="gemm", threads="1")
BASELINE, MKL = subject("pip-default", baseline=True), subject("mkl")
SUBJECTS = {"theano-pip-default": BASELINE, "theano-mkl": MKL, "theano-mkl:old": MKL}
SPEED = {BASELINE.id: 2.0, MKL.id: 5.0}


@dataclass
class FakeEngine:
    """An engine with these images; `broken` has the commands that fail."""

    labels: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    containers: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def image_id(self, name: str) -> str | None:
        return f"sha256:{name}" if name in SUBJECTS else None

    def labels_of(self, image: str) -> Mapping[str, str]:
        title = image.removeprefix("sha256:").partition(":")[0]
        return {f"{images.LABEL}.title": title, f"{images.LABEL}.version": "1.0.5", **self.labels}

    @contextmanager
    def container(
        self, image: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> Iterator[FakeContainer]:
        self.calls.append(f"run {environment['THEANO_STACKS_IMAGE']} {' '.join(command)}")
        self.containers.append(image)
        try:
            yield FakeContainer(self, image)
        finally:
            self.containers.remove(image)

    def close(self) -> None:
        pass


@dataclass
class FakeContainer:
    engine: FakeEngine
    image: str

    def start(self) -> None:
        pass

    def call(self, *words: str) -> str:
        self.engine.calls.append(" ".join(words))
        if self.engine.broken and self.engine.broken in self.engine.calls[-1]:
            raise EngineError("theano-stacks\nno g++", found="exit status 2")
        if "bench" not in words:
            return ""
        of = SUBJECTS[self.image.removeprefix("sha256:")]
        of = of.model_copy(update={"image": DIGEST})
        number = int(words[words.index("--round") + 1])
        return result([run(of, number, SPEED[of.id])], of).model_dump_json(by_alias=True)


def timed(engine: FakeEngine, *names: str, **options: Any) -> Any:
    chosen = QUICK.model_copy(update=options)
    return images.timed(cast("Engine", engine), names, chosen)


def test_images_take_turns_another_one_first_each_time() -> None:
    engine = FakeEngine()
    found = timed(engine, "theano-pip-default", "theano-mkl")
    order = [(one.round, one.subject.rpartition("/")[2]) for one in found.runs]
    assert order[:4] == [(1, "pip-default"), (1, "mkl"), (2, "mkl"), (2, "pip-default")]
    assert len(order) == 10 and found.settings.rounds == 5
    assert all(subject.image == DIGEST for subject in found.subjects)
    assert not engine.containers
    assert "run sha256:theano-mkl sleep infinity" in engine.calls
    bench = next(call for call in engine.calls if "bench" in call)
    assert bench.endswith("theano-stacks bench --json --round 1 --workload gemm --threads 1")
    timed(engine, "theano-mkl", quick=False)
    assert engine.calls[-1].endswith("--full")


def test_the_result_is_stored_and_shown(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engines, "find", FakeEngine)
    images.bench(own_workspace, ["theano-pip-default", "theano-mkl"], QUICK, "here")
    (stored,) = store.read_all(own_workspace)[0]
    assert stored.path.parent.name == stored.result.machine.name == "here"
    assert re.search(r"mkl +5 +5 - 5 +2\.50  2\.50 - 2\.50", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("engine", "names", "message"),
    [
        (FakeEngine(), ["none"], "the engine has no image none"),
        (FakeEngine(), ["theano-mkl", "theano-mkl:old"], "are of one variant"),
        (FakeEngine(broken="verify"), ["theano-mkl"], "does not pass its verification"),
        (
            FakeEngine(labels={f"{images.LABEL}.version": "0.8.2"}),
            ["theano-mkl"],
            "is of theano-1.0.5/mkl, but not by its labels",
        ),
    ],
)
def test_an_image_that_cannot_be_timed(
    engine: FakeEngine, names: list[str], message: str, own_workspace: Workspace
) -> None:
    with pytest.raises(UsageError, match=message):
        timed(engine, *names)
    assert not engine.containers
    with pytest.raises(EngineError, match="no g"):
        timed(FakeEngine(broken="--round 3"), "theano-pip-default", "theano-mkl")


def test_options_that_images_do_not_have(own_workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="--images names no image"):
        images.bench(own_workspace, [], QUICK)
    with pytest.raises(UsageError, match="with --images: --quick, --rounds, --threads, --workload"):
        images.bench(own_workspace, ["theano-mkl"], BenchOptions(busy=2))


def in_image(subject: Subject) -> Subject:
    return subject.model_copy(update={"image": DIGEST})


def of_image(subject: Subject, *values: float, **more: Any) -> Result:
    return result(runs(subject, values), in_image(subject), **more)


def test_images_timed_one_after_another_have_ratios_and_a_remark() -> None:
    later = "2026-11-21T06:30:00Z"
    fast = of_image(FAST, *[6.0] * 7, began=later)
    (one,) = images.together([fast, of_image(BASE, *[2.0] * 7)])
    assert one.began == "2026-11-21T05:30:00Z" and one.seconds == 120.0
    assert [subject.id for subject in one.subjects] == [BASE.id, FAST.id]
    ratios = [row.ratio.value for row in rows(one.runs, one.subjects) if row.ratio]
    assert ratios == [3.0]
    assert one.remarks == (images.ONE_AFTER_ANOTHER,)


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
    assert [found.subjects for found in images.together(every)] == [r.subjects for r in every]


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
    one = images.merged(turns)
    assert one.settings.rounds == 3 and len(one.runs) == 6 and len(one.subjects) == 2
    assert [(p.threads, p.gflops) for p in one.machine.peak] == [(1, 6.0), (2, 11.0)]
    assert one.remarks == ()


def test_noise_is_a_remark() -> None:
    busy = [
        run.model_copy(update={"noise": run.noise.model_copy(update={"others": 1.5})})
        for run in runs(BASE, [1.0])
    ]
    assert "on up to 1.5 cores" in images.together([result(busy, in_image(BASE))])[0].remarks[0]
