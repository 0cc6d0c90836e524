"""Every variant, one framework at a time, stopped and started again."""

import shutil
from typing import Any

import pytest

from stacks.bench import candidates, command, store
from stacks.bench import result as results
from stacks.bench.candidates import Candidate
from stacks.bench.result import Missing
from stacks.bench.schedule import BenchOptions
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.benching import MACHINE, PASSED, missing, result, runs, subject
from verify.core import machine

TWO = ("openblas", "pip-default")


class World:
    """A machine on which variants are built, verified and timed in no time.

    broken: variants that do not verify. fails: the timing does. missing: of each result.
    """

    def __init__(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspace, self.fails = workspace, False
        self.broken, self.missing = set[str](), tuple[Missing, ...]()
        self.built: list[str] = []
        self.timed: list[tuple[list[str], BenchOptions]] = []
        variants = [load_variant(workspace, name, "theano-1.0.5") for name in TWO]
        monkeypatch.setattr(command, "select", lambda _, framework: variants)
        monkeypatch.setattr(candidates, "candidates", self.candidates)
        monkeypatch.setattr(command, "timed", self.time)
        for name in ("affine_cores", "usable_cores"):
            monkeypatch.setattr(machine, name, lambda: 2)
        monkeypatch.setattr(results, "describe_machine", lambda reports: MACHINE)

    def make(self, workspace: Workspace, variant: Variant) -> None:
        if variant.name in self.broken:
            raise StacksError("a check failed")
        self.built.append(variant.name)

    def candidates(self, workspace: Workspace, variants: list[Variant]) -> list[Candidate]:
        return [
            Candidate(variant, workspace.root, lock.read(workspace, variant), PASSED)
            for variant in variants
            if variant.name in self.built
        ]

    def time(
        self, workspace: Workspace, chosen: list[Candidate], options: BenchOptions, **more: Any
    ) -> Any:
        assert more == {"machine_name": "", "campaign": True}
        if self.fails:
            raise StacksError("a program was killed")
        self.timed.append(([each.variant.id for each in chosen], options))
        subjects = [each.subject for each in chosen]
        found = result([run for each in subjects for run in runs(each, [1.0] * 7)], *subjects)
        update = {"workloads": options.workloads, "quick": options.quick, "busy": options.busy}
        update["rounds"] = options.round_count
        settings = found.settings.model_copy(update=update)
        return found.model_copy(update={"settings": settings, "missing": self.missing})

    def run(self, framework: str = "", **options: Any) -> None:
        command.bench_all(
            self.workspace, BenchOptions(**options), framework=framework, make=self.make
        )


@pytest.fixture
def world(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(own_workspace, monkeypatch)


def test_all_variants_are_built_and_timed_together(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(quick=True)
    [(names, options)] = world.timed
    assert names == [f"theano-1.0.5/{name}" for name in TWO] and sorted(world.built) == list(TWO)
    assert options.workload == "gemm,elementwise,check_blas,logreg,mlp,lenet,lstm"
    assert (options.rounds, options.threads, options.starts) == (5, "2", 5)
    output = capsys.readouterr()
    assert "theano-1.0.5, 1 of 1: 2 variants\n" in output.err
    assert "ctrl-C stops it; the same command goes on" in output.err
    assert "building theano-1.0.5/openblas, 1 of 2\n" in output.err
    assert "stored in results/here-2-cores/" in output.err
    assert output.out == "next: ./invoke publish\n"


def test_what_is_stored_is_not_timed_again(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[dict[str, Any]] = [{"quick": True}, {}, {"quick": True, "busy": 2}]
    kinds.append({"workload": "lstm"})
    for count, options in enumerate(kinds, 1):
        world.run(**options)
        world.run(**options)
        assert len(world.timed) == count, options
    assert "theano-1.0.5: timed already\n" in capsys.readouterr().err
    world.missing = (missing(subject("openblas")),)
    world.run(quick=True, workload="mlp")
    assert "not timed: theano-1.0.5/openblas: see the messages" in capsys.readouterr().err
    world.run(quick=True, workload="mlp", limit=7200)
    assert len(world.timed) == 6
    world.missing = ()
    other = MACHINE.model_copy(update={"cores": 64})
    monkeypatch.setattr(results, "describe_machine", lambda reports: other)
    world.run(quick=True)
    assert len(world.timed) == 7, "it was of another machine"


def test_a_variant_that_does_not_verify_is_named_and_left_out(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.broken.add("openblas")
    world.run()
    assert [names for names, _ in world.timed] == [["theano-1.0.5/pip-default"]]
    output = capsys.readouterr().err
    assert "left out: theano-1.0.5/openblas\n" in output and "a check failed" in output
    assert output.endswith("not timed: theano-1.0.5/openblas: see the messages above\n")
    # When it verifies, all are timed again, in the same rounds.
    world.broken.clear()
    world.run()
    assert world.timed[1][0] == ["theano-1.0.5/openblas", "theano-1.0.5/pip-default"]


def test_a_variant_without_a_lock_is_left_out_too(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    envs = world.workspace.envs
    whole = envs.resolve()
    envs.unlink()
    shutil.copytree(whole, envs)
    shutil.rmtree(envs / "locks/theano-1.0.5/openblas")
    world.broken.add("openblas")
    world.run()
    assert [names for names, _ in world.timed] == [["theano-1.0.5/pip-default"]]
    assert "left out: theano-1.0.5/openblas\n" in capsys.readouterr().err


def test_a_framework_that_cannot_be_timed_is_named(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fails = True
    with pytest.raises(StacksError, match=r"^without a result: theano-1\.0\.5"):
        world.run()
    assert "a program was killed" in capsys.readouterr().err
    assert not store.read_all(world.workspace)[0]
