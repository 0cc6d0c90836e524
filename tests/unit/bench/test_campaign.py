"""A campaign: what it plans, leaves out, and does not time twice."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.bench import campaign, command, machine, store
from stacks.bench.options import BenchOptions
from stacks.bench.result import Missing, Series
from stacks.core import cores
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant
from unit.helpers.benching import MACHINE, missing, result, runs, subject
from verify.workloads import rounds

TWO = ("pip-default", "openblas")
ALL = all_variants


class World:
    """A campaign of two variants of Theano 1.0.5, or of four of another framework.

    broken: those that do not verify.
    """

    def __init__(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, framework: str = "theano-1.0.5"
    ) -> None:
        self.workspace, self.broken, self.fails = workspace, set[str](), False
        self.built: list[str] = []
        self.timed: list[tuple[str, BenchOptions]] = []
        self.starts, self.missing = 0, tuple[Missing, ...]()
        names = TWO if framework == "theano-1.0.5" else (*TWO, "mkl", "mkl-amdlibm")
        variants = [v for v in all_variants(workspace) if v.name in names]
        self.variants = [v for v in variants if v.framework.name == framework]
        monkeypatch.setattr("stacks.bench.campaign.all_variants", lambda _: self.variants)
        monkeypatch.setattr(build, "make_environment", self.build)
        monkeypatch.setattr(verify, "verify_variant", lambda *given, **options: None)
        monkeypatch.setattr("stacks.bench.campaign.candidates", self.candidates)
        monkeypatch.setattr(command, "timed", self.time)
        monkeypatch.setattr(cores, "affine", lambda: 2)
        self.free = 10e9
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=self.free))
        monkeypatch.setattr(machine, "is_this", lambda described: described == MACHINE)

    def build(self, workspace: Workspace, variant: Variant) -> None:
        if variant.name in self.broken:
            raise StacksError("a check failed")
        self.built.append(variant.name)

    def candidates(self, workspace: Workspace, variants: list[Variant]) -> list[Any]:
        return [
            SimpleNamespace(variant=variant, verified=True)
            for variant in variants
            if variant.name in self.built
        ]

    def time(self, workspace: Workspace, names: str, **given: Any) -> Any:
        if self.fails:
            raise StacksError("a program was killed")
        options = given["options"]
        self.timed.append((names, options))
        calls = options.calls or rounds.calls_of("mlp", options.quick)
        steps = Series(name="mlp step", unit="s", samples=(1.0,) * calls)
        subjects = [
            subject(variant.name, variant.framework.name).model_copy(
                update={"lock": lock.read(workspace, variant).sha256}
            )
            for variant in self.variants
            if variant.id in names.split(",")
        ]
        found = [
            each.model_copy(update=more)
            for one in subjects
            for each in runs(one, [1.0] * 7)
            # The bench's own workloads start anew in each round.
            for more in (
                {"start": each.round},
                {"start": self.starts or None, "workload": "mlp", "series": (steps,)},
            )
        ]
        one = result(found, *subjects)
        settings = one.settings.model_copy(
            update={
                "workloads": options.workloads,
                "quick": options.quick,
                "rounds": options.round_count,
            }
        )
        return one.model_copy(update={"settings": settings, "missing": self.missing})

    def run(self, **options: Any) -> None:
        campaign.bench_all(self.workspace, BenchOptions(**options))


@pytest.fixture
def world(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(own_workspace, monkeypatch)


def test_all_variants_are_built_and_timed_together(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(quick=True)
    [(names, options)] = world.timed
    assert names.split(",") == ["theano-1.0.5/openblas", "theano-1.0.5/pip-default"]
    assert sorted(world.built) == sorted(TWO)
    assert options.workloads == (
        "gemm",
        "elementwise",
        "check_blas",
        "logreg",
        "mlp",
        "lenet",
        "lstm",
    )
    assert (options.rounds, options.threads, options.starts) == (5, "2", 5)
    output = capsys.readouterr()
    assert "theano-1.0.5, 1 of 1: 2 variants\n" in output.err
    assert "ctrl-C stops it; the same command goes on" in output.err
    assert "stored in results/here-2-cores/" in output.err
    assert output.out == "next: ./invoke publish\n"


def test_one_framework_alone(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(own_workspace, monkeypatch)
    world.variants += [v for v in ALL(own_workspace) if v.id == "theano-0.8.2/mkl"]
    campaign.bench_all(own_workspace, BenchOptions(quick=True), framework="aesara")
    assert world.timed == [] and "variants" not in capsys.readouterr().err
    campaign.bench_all(own_workspace, BenchOptions(quick=True), framework="theano-0.8.2")
    assert [names for names, _ in world.timed] == ["theano-0.8.2/mkl", "theano-0.8.2/mkl"]


def test_what_is_stored_is_not_timed_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(quick=True)
    world.run(quick=True)
    assert len(world.timed) == 1
    assert "theano-1.0.5: timed already\n" in capsys.readouterr().err
    world.run(quick=False)
    assert len(world.timed) == 2
    world.run(quick=True, busy=2)
    assert len(world.timed) == 3, "a result of an idle machine is none beside busy loops"


def test_what_failed_or_had_other_starts_is_timed_again(world: World) -> None:
    world.starts = 2
    world.run(quick=True)
    world.starts = 5
    world.run(quick=True)
    assert len(world.timed) == 2
    world.run(quick=True)
    assert len(world.timed) == 2
    world.run(quick=True, starts=3)
    assert len(world.timed) == 3
    world.starts = 4
    world.run(quick=True, starts=4, calls=2)
    world.run(quick=True, starts=4)
    assert len(world.timed) == 5, "figures of two calls stand for no others"
    world.missing = (missing(subject("openblas")),)
    world.run(quick=True, workload="lstm")
    world.run(quick=True, workload="lstm", limit=7200)
    assert len(world.timed) == 7


def test_the_three_steps_of_the_article_are_a_session_of_their_own(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(own_workspace, monkeypatch, framework="theano-0.8.2")
    world.run(quick=True)
    every, steps = world.timed
    assert "ntm" not in every[1].workloads and len(every[0].split(",")) == 4
    assert steps[0].split(",") == [
        "theano-0.8.2/mkl",
        "theano-0.8.2/mkl-amdlibm",
        "theano-0.8.2/pip-default",
    ]
    assert (steps[1].workloads, steps[1].rounds, steps[1].starts) == (("ntm",), 5, 1)
    assert steps[1].together and not every[1].together
    world.run(quick=True, workload="gemm")
    assert len(world.timed) == 3, "the steps are not asked for"


def test_a_disk_that_is_too_small_is_named_before_anything_is_built(world: World) -> None:
    world.free = 0.5e9
    with pytest.raises(StacksError, match="too small for 2 environments") as caught:
        world.run(quick=True)
    assert caught.value.expected == "1 GB free" and caught.value.found == "0 GB"
    assert not world.built
    world.free = 10e9
    world.run(quick=True)
    world.free = 0.0
    world.run(quick=True)
    assert len(world.timed) == 1, "nothing is built"


def test_a_result_of_another_machine_does_not_count(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run()
    monkeypatch.setattr(machine, "is_this", lambda described: False)
    world.run()
    assert len(world.timed) == 2


def test_a_variant_that_does_not_verify_is_named_and_left_out(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.broken.add("openblas")
    world.run()
    assert [names for names, _ in world.timed] == ["theano-1.0.5/pip-default"]
    output = capsys.readouterr().err
    assert "left out: theano-1.0.5/openblas\n" in output and "a check failed" in output
    assert output.endswith("left out: theano-1.0.5/openblas: see the messages above\n")
    # When it verifies, all are timed again, in the same rounds.
    world.broken.clear()
    world.run()
    assert world.timed[1][0] == "theano-1.0.5/openblas,theano-1.0.5/pip-default"


def test_a_framework_that_cannot_be_timed_is_named(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fails = True
    with pytest.raises(StacksError, match=r"^not timed: theano-1\.0\.5"):
        world.run()
    assert "a program was killed" in capsys.readouterr().err
    assert not store.read_all(world.workspace)[0]
