"""The flavour for a processor: by timing the built ones, by stored results, for a stack.yaml."""

import dataclasses
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.bench import candidates, command, recommend, store, user_program
from stacks.bench.candidates import Candidate
from stacks.bench.result import Run
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.benching import (
    ALIKE,
    MACHINE,
    QUICK,
    SLOW,
    beside_loops,
    candidate,
    kernels_of,
    result,
    runs,
    subject,
)


def test_the_built_and_verified_variants_are_timed_and_shown(
    own_workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernels_of(tmp_path)
    two = [dataclasses.replace(candidate(name), place=tmp_path) for name in ("mkl", "blis")]
    broken = candidate("openblas", report={"ok": False})
    monkeypatch.setattr(candidates, "candidates", lambda *_: [*two, broken])
    recommend.recommend(own_workspace, [broken.variant], 5)
    output = capsys.readouterr()
    assert "left out: theano-1.0.5/openblas: not verified" in output.err
    assert "no clear winner: mkl, blis differ only by noise" in output.out
    assert store.read_all(own_workspace) == ([], []), "nothing is stored"
    with pytest.raises(UsageError, match="too few rounds"):
        recommend.recommend(own_workspace, [broken.variant], 2)
    monkeypatch.setattr(candidates, "candidates", lambda *_: [two[0], broken])
    with pytest.raises(UsageError, match=r"(?s)fewer than two.*found: +mkl\n.*invoke build"):
        recommend.recommend(own_workspace, [broken.variant])


GONE, USUAL, OTHER = subject("gone"), subject("openblas"), subject("mkl")
FOREIGN, DEVICE = subject("blis", "theano-0.8.2"), subject("gpuarray-cuda")
LATER = "2026-11-24T05:30:00Z"


def keep(workspace: Workspace, usual: list[float], other: list[float], **more: object) -> None:
    """Store a result in which flavours that are no choice are the fastest."""
    found: list[Run] = runs(OTHER, other, name=recommend.MEASURE)
    found += runs(USUAL, usual, name=recommend.MEASURE)
    for each in (FOREIGN, GONE, DEVICE):
        found += runs(each, [1000.0] * 7, name=recommend.MEASURE)
    store.write(workspace, result(found, USUAL, OTHER, FOREIGN, GONE, DEVICE, **more))


def test_a_flavour_that_is_clearly_faster_here_is_recommended(own_workspace: Workspace) -> None:
    keep(own_workspace, SLOW, QUICK)
    variant, reason = recommend.recommended(own_workspace, here=MACHINE)
    assert variant.id == "theano-1.0.5/mkl"
    assert reason == (
        "Gemm float64 2000, GFLOP/s on such a machine (2026-11-21): openblas 40.0, mkl 100"
    )
    # The newest result of this processor counts.
    keep(own_workspace, QUICK, ALIKE, began=LATER)
    others: list[dict[str, object]] = [{"model": "1 2 4"}, {"cores": 4}, {"cores": 16}]
    for number, more in enumerate(others):
        there = MACHINE.model_copy(update={**more, "name": "elsewhere"})
        keep(own_workspace, SLOW, QUICK, began=f"2026-11-25T05:3{number}:00Z", machine=there)
    variant, reason = recommend.recommended(own_workspace, here=MACHINE)
    assert variant.id == "theano-1.0.5/openblas" and "openblas 100, mkl 101" in reason


@pytest.mark.parametrize(
    ("vendor", "cores", "tries_mkl"),
    [("GenuineIntel", cores, cores >= 4) for cores in (2, 4, 8, 16, 64)]
    + [("AuthenticAMD", 64, False)],
)
def test_many_cores_of_intel_get_advice(
    own_workspace: Workspace, vendor: str, cores: int, tries_mkl: bool
) -> None:
    keep(own_workspace, QUICK, SLOW, machine=MACHINE.model_copy(update={"vendor": vendor}))
    here = MACHINE.model_copy(update={"vendor": vendor, "cores": cores})
    variant, reason = recommend.recommended(own_workspace, here=here)
    assert variant.name == "openblas"
    assert (recommend.UNKNOWN in reason) == (cores > 2)
    assert ("--variant mkl" in reason) == tries_mkl


def test_without_a_result_of_this_processor_it_is_openblas(own_workspace: Workspace) -> None:
    busy = [*runs(USUAL, SLOW, name=recommend.MEASURE), *runs(OTHER, QUICK, name=recommend.MEASURE)]
    store.write(own_workspace, result(beside_loops(busy), USUAL, OTHER))
    assert recommend.recommended(own_workspace, here=MACHINE)[1] == recommend.UNKNOWN
    variant, reason = recommend.recommended(own_workspace, "pytensor-3.3.7", MACHINE)
    assert (variant.id, reason) == ("pytensor-3.3.7/openblas", recommend.UNKNOWN)


STACK = """\
summary: mine 🚀
extends: openblas
framework: theano-1.0.5
pip: [decorator]
requirements: requirements.txt
flags: {exception_verbosity: high}
environment: {MINE: "1"}
"""


@pytest.fixture
def own(workspace: Workspace, tmp_path: Path) -> Variant:
    folder = tmp_path / "my prøject"
    folder.mkdir()
    (folder / stack.NAME).write_text(STACK)
    (folder / "requirements.txt").write_text("tabulate==0.9.0\n")
    return load_variant(workspace, str(folder))


@pytest.fixture
def choose(
    workspace: Workspace, own: Variant, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Give a call with the flavours that fit, and those that the rounds show as the fastest."""

    def call(fit: tuple[str, ...], *best: str) -> None:
        built: list[Candidate] = []

        def make(_: Workspace, copy: Variant) -> None:
            if copy.name not in fit:
                raise UsageError("pip: decorator does not fit")
            built.append(Candidate(copy, Path("/"), Lock((), ()), {"ok": True}))

        def bench(found: list[Candidate], command: list[str], *, rounds: int) -> list[str]:
            assert ([c.variant.name for c in found], command) == (sorted(fit), ["train"])
            assert rounds == 0
            return [f"theano-1.0.5/{name}" for name in best]

        monkeypatch.setattr(candidates, "candidates", lambda *_: built)
        monkeypatch.setattr(user_program, "bench", bench)
        recommend.recommend_for_stack(workspace, own, ["train"], make=make)

    return call


def test_the_copies_are_the_stack_on_each_flavour_for_the_processor(
    workspace: Workspace, own: Variant
) -> None:
    assert own.file
    before = own.file.read_bytes()
    copies = {copy.name: copy for copy in recommend.copies(workspace, own)}
    assert {"openblas", "blis", "mkl", "pip-openblas"} < copies.keys()
    # Its baseline is slow on purpose, and the bench waits for no device.
    assert not {"pip-default", "gpuarray", "gpuarray-cuda"} & copies.keys()
    mkl = copies["mkl"]
    assert mkl.blas and mkl.blas.name == "mkl"
    assert mkl.requests == ("decorator", "tabulate==0.9.0")
    assert mkl.flags["exception_verbosity"] == "high" and mkl.variables["MINE"] == "1"
    assert own.file.read_bytes() == before
    assert {path.name for path in own.file.parent.iterdir()} == {
        "requirements.txt", "stack.build", "stack.yaml"
    }  # fmt: skip
    assert mkl.file == own.file.parent / "stack.build/flavours/mkl/stack.yaml"
    assert json.loads(mkl.file.read_text())["extends"] == "mkl"


def test_what_is_built_and_left_out_is_said(
    choose: Callable[..., None], own: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    choose(("mkl", "openblas"), "mkl")
    printed = capsys.readouterr()
    assert printed.err.startswith("6 flavours to lock, build and verify, 1 to 3 min for each that")
    assert ", 6 of 6, about 0 s left\n" in printed.err
    assert "left out: theano-1.0.5/blis\nerror: pip: decorator does not fit\n" in printed.err
    file = own.file or Path()
    remove = f"./invoke clean --variant {shlex.quote(str(file.parent))}"
    assert f"{stack.flavours_folder(file)}; {remove}" in printed.err


@pytest.mark.parametrize(
    ("best", "line"),
    [
        (("mkl",), "put this line into {} instead of `extends: openblas`, then lock and build it:"),
        (("openblas",), "leave {} as it is: extends: openblas"),
        (("blis", "openblas"), "leave {} as it is: extends: openblas"),
        # A slower one does not stay where two others are equally fast.
        (("mkl", "blis"), "\nextends: mkl\n"),
    ],
)
def test_it_ends_with_the_line_for_the_stack(
    best: tuple[str, ...],
    line: str,
    choose: Callable[..., None],
    own: Variant,
    capsys: pytest.CaptureFixture[str],
) -> None:
    choose(("blis", "mkl", "openblas"), *best)
    printed = capsys.readouterr().out
    assert line.format(own.file) in printed
    assert printed.endswith("\nextends: mkl\n") is (best[0] == "mkl")


def test_a_stack_without_a_current_lock_is_locked_before_it_is_built_and_verified(
    workspace: Workspace, own: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(build, "relock", lambda *_: done.append("lock"))
    monkeypatch.setattr(build, "make_environment", lambda *_: done.append("make"))
    monkeypatch.setattr(verify, "verify_variant", lambda *_, quiet: done.append("verify"))
    command.make_and_verify(workspace, own)
    assert done == ["lock", "make", "verify"]
    # The locks of the project are its authors'.
    command.make_and_verify(workspace, load_variant(workspace, "mkl"))
    assert done[3:] == ["make", "verify"]


def test_one_flavour_is_no_choice_and_one_of_the_project_is_refused(
    choose: Callable[..., None], workspace: Workspace
) -> None:
    with pytest.raises(UsageError, match=r"(?s)nothing to choose from.*found: +openblas"):
        choose(("openblas",), "openblas")
    with pytest.raises(UsageError, match=r"expected: the path of a stack\.yaml"):
        recommend.recommend_for_stack(workspace, load_variant(workspace, "mkl"), ["train"])
