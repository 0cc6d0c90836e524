from __future__ import annotations

from pathlib import Path

import pytest

from stacks.bench import own_program, stack_flavours
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.clean import clean
from stacks.variants import stack
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

TEXT = """\
summary: "a: summary"
extends: openblas
framework: theano-0.8.2
pip: [lasagne==0.1]
requirements: r.txt
environment: {A: "1"}
"""


@pytest.fixture
def variant(workspace: Workspace, tmp_path: Path) -> Variant:
    folder = tmp_path / "my prøject"
    folder.mkdir()
    (folder / "r.txt").write_text("six\n")
    (folder / "stack.yaml").write_text(TEXT)
    return load_variant(workspace, str(folder))


def test_copies_differ_in_the_flavour_alone(workspace: Workspace, variant: Variant) -> None:
    made = stack_flavours.copies(workspace, variant)
    names = [each.name for each in made]
    assert names == sorted({"blis", "mkl", "mkl-amdlibm", "openblas", "openblas-amdlibm"}
        | {"pip-openblas"})  # fmt: skip
    for each in made:
        assert each.requests == ("lasagne==0.1", "six")
        assert (each.summary, each.variables["A"]) == ("a: summary", "1")
        assert each.framework == variant.framework
    [same] = [each for each in made if each.name == "openblas"]
    assert same.conda_specs() == variant.conda_specs()
    assert variant.file and variant.file.read_text() == TEXT


def test_flavours_that_do_not_fit_are_named(
    workspace: Workspace,
    variant: Variant,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    timed = []

    def candidate(workspace: Workspace, copy: Variant) -> Variant:
        if copy.name != "blis":
            raise UsageError(f"{copy.name} has no such package")
        return copy

    def bench(found: list[Variant], command: list[str], *, rounds: int) -> None:
        timed.append(([each.name for each in found], command, rounds))

    monkeypatch.setattr(stack_flavours, "_candidate", candidate)
    monkeypatch.setattr(own_program, "bench", bench)
    stack_flavours.recommend(workspace, variant, ["python", "x.py"], 3)
    assert timed == [(["blis"], ["python", "x.py"], 3)]
    output = capsys.readouterr()
    assert "left out: theano-0.8.2/mkl: mkl has no such package" in output.err
    assert "as `extends:` into" in output.out


def test_no_flavour_fits(
    workspace: Workspace, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def candidate(workspace: Workspace, copy: Variant) -> Variant:
        raise UsageError("no")

    monkeypatch.setattr(stack_flavours, "_candidate", candidate)
    with pytest.raises(UsageError, match=r"no flavour of theano-0\.8\.2 has the packages"):
        stack_flavours.recommend(workspace, variant, ["python"], 1)


def test_clean_removes_the_copies(workspace: Workspace, variant: Variant) -> None:
    stack_flavours.copies(workspace, variant)
    assert variant.file
    clean(workspace, [variant], cache=False)
    assert not (stack.build_folder(variant.file) / stack.FLAVOURS).exists()
