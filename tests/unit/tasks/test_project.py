from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from invoke.exceptions import Exit

from stacks.core.workspace import Workspace
from stacks.distribution import vendor as vendoring
from stacks.tasks import project
from stacks.variants.load import all_variants


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"variants": "mkl"}, ["theano-1.0.5/mkl"]),
        ({"variants": "mkl", "framework": "theano-0.8.2"}, ["theano-0.8.2/mkl"]),
        (
            {"variants": "theano-1.0.5/mkl,mkl,pytensor-3.3.7/blis"},
            ["pytensor-3.3.7/blis", "theano-1.0.5/mkl"],
        ),
    ],
)
def test_the_variants_that_are_vendored(
    options: dict[str, Any], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(monkeypatch, tmp_path, **options) == expected


def test_all_are_vendored(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [variant.id for variant in all_variants(workspace)]
    assert chosen(monkeypatch, tmp_path, all=True) == every
    own = [name for name in every if name.startswith("aesara-2.8.7/")]
    assert chosen(monkeypatch, tmp_path, all=True, framework="aesara-2.8.7") == own


def chosen(monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any) -> list[str]:
    found = []
    monkeypatch.setattr(
        vendoring, "vendor", lambda _, variants, *rest, **more: found.extend(variants)
    )
    project.vendor.body(None, str(folder), **options)
    return [variant.id for variant in found]


def test_a_check_takes_no_other_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exit):
        project.vendor.body(None, str(tmp_path), variants="mkl", check=True)
    assert "error: --check reads the whole folder" in capsys.readouterr().err
