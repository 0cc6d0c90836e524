"""A stack.yaml on each flavour of a small framework: locked and built once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.tiny import Tiny
from stacks.bench import machine, stack_flavours
from stacks.bench.candidates import prepare
from stacks.core.workspace import Workspace
from stacks.environments.care import verify
from stacks.environments.folders import report_path
from stacks.environments.make.settings import EXPECTATION
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

STACK = "summary: mine\nextends: by-conda\nframework: tiny\npip: [{}]\n"


def test_its_copies_are_made_once(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verified = []

    def verify_variant(workspace: Workspace, variant: Variant, place: Path, *, brief: bool) -> None:
        """Write the report of a success: this framework has nothing that computes."""
        verified.append(variant.name)
        packages = json.loads((place / EXPECTATION).read_bytes())["packages"]
        report = report_path(workspace, variant)
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(json.dumps({"ok": True, "packages": packages}))

    monkeypatch.setattr(verify, "verify_variant", verify_variant)
    monkeypatch.setattr(machine, "is_here", lambda report: True)
    file = tmp_path / "my prøject/stack.yaml"
    file.parent.mkdir()

    def made(pip: str) -> list[str]:
        file.write_text(STACK.format(pip))
        copies = stack_flavours.copies(tiny.workspace, load_variant(tiny.workspace, str(file)))
        found = prepare(tiny.workspace, copies, stack_flavours.make, stack_flavours.REFUSED)
        return [candidate.variant.name for candidate in found]

    both = ["by-conda", "by-pip"]
    assert made("decorator==4.4.2") == both
    assert made("decorator==4.4.2") == both
    assert verified == both, "the second time nothing was made"
    out, err = capsys.readouterr()
    assert out == "", "no table, and no next step"
    assert [err.count(f"{name}: built and verified\n") for name in both] == [1, 1]
    assert made("decorator==4.4.1") == both
    assert verified == both * 2
    assert made("six==1.15.0") == []
    assert "left out: tiny/by-conda\nerror: " in capsys.readouterr().err
    assert {path.name for path in file.parent.iterdir()} == {"stack.yaml", "stack.build"}
