"""A stack.yaml on other flavours: which, what their files say, and what is printed."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.bench import candidates, command, user_program
from stacks.bench import recommend as recommending
from stacks.bench.candidates import Candidate
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.make import build
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

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
def recommend(
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
        recommending.recommend_for_stack(workspace, own, ["train"], make=make)

    return call


def test_the_copies_are_the_stack_on_each_flavour_for_the_processor(
    workspace: Workspace, own: Variant
) -> None:
    assert own.file
    before = own.file.read_bytes()
    copies = {copy.name: copy for copy in recommending.copies(workspace, own)}
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
    recommend: Callable[..., None], own: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    recommend(("mkl", "openblas"), "mkl")
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
        (("openblas",), "has it already: extends: openblas"),
        (("blis", "openblas"), "leave {} as it is: extends: openblas"),
        # A slower one does not stay where two others are equally fast.
        (("mkl", "blis"), "\nextends: mkl\n"),
    ],
)
def test_it_ends_with_the_line_for_the_stack(
    best: tuple[str, ...],
    line: str,
    recommend: Callable[..., None],
    own: Variant,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recommend(("blis", "mkl", "openblas"), *best)
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
    recommend: Callable[..., None], workspace: Workspace
) -> None:
    with pytest.raises(UsageError, match=r"(?s)nothing to choose from.*found: +openblas"):
        recommend(("openblas",), "openblas")
    with pytest.raises(UsageError, match=r"expected: the path of a stack\.yaml"):
        recommending.recommend_for_stack(workspace, load_variant(workspace, "mkl"), ["train"])
