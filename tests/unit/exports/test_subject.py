from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.exports.subject import require_image, subject_of, with_channel
from stacks.variants.load import load_variant
from stacks.variants.variant import on_other_channel
from unit.exports.conftest import MakeSubject


def test_a_subject_is_of_the_current_lock(workspace: Workspace, subject: MakeSubject) -> None:
    found = subject_of(workspace, load_variant(workspace, "pip-openblas"))
    given = subject("pip-openblas")
    assert found.lock == given.lock
    assert set(found.texts.items()) <= set(given.texts.items())
    assert found.homepage == "https://github.com/Theano/Theano"
    assert found.environment == workspace.environments / "theano-1.0.5/pip-openblas"


def test_another_channel_is_not_served(subject: MakeSubject) -> None:
    mkl = subject("mkl")
    other = replace(mkl, lock=replace(mkl.lock, channel="https://example.org/forge"))
    assert with_channel(mkl, "conda") == "while `./invoke serve` runs: conda"
    assert with_channel(other, "conda") == "conda"
    stack = replace(
        mkl, variant=mkl.variant.model_copy(update={"file": Path("/my code/stack.yaml")})
    )
    serving = "./invoke serve --variant '/my code/stack.yaml'"
    assert with_channel(stack, "conda") == f"while `{serving}` runs: conda"


def test_no_image_has_another_channels_packages(subject: MakeSubject) -> None:
    mkl = subject("mkl")
    other = replace(mkl, variant=on_other_channel(mkl.variant, "forge"))
    assert other.name == "theano-1.0.5-mkl-forge"
    assert require_image(mkl, "compose") == "theano-mkl:1.0.5"
    with pytest.raises(UsageError, match=r"mkl@forge is not available as compose\n.*`@`"):
        require_image(other, "compose")
