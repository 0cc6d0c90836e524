from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.bench import candidates, command
from stacks.bench.result import Device
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant
from unit.helpers.benching import PASSED, write_report

NOT_VERIFIED = "not verified on this machine since it was built"


def refusal(workspace: Workspace) -> str:
    with pytest.raises(UsageError) as caught:
        candidates.require_candidates(
            workspace, [load_variant(workspace, "openblas", "theano-1.0.5")]
        )
    return str(caught.value)


def test_only_verified_variants_are_timed(built: Workspace) -> None:
    variant = load_variant(built, "openblas", "theano-1.0.5")
    fix = "./invoke verify --variant openblas"
    assert NOT_VERIFIED in refusal(built) and fix in refusal(built)
    write_report(built, {**PASSED, "ok": False})
    assert "its verification failed" in refusal(built)
    write_report(built, {**PASSED, "packages": []})
    assert NOT_VERIFIED in refusal(built), "it was of another lock"
    write_report(built, {**PASSED, "machine": {"cpu": "There"}})
    assert NOT_VERIFIED in refusal(built), "it was of another machine"
    path = write_report(built, PASSED)
    assert [c.variant.id for c in candidates.require_candidates(built, [variant])] == [
        "theano-1.0.5/openblas"
    ]
    os.utime(path, (1, 1))
    assert NOT_VERIFIED in refusal(built), "it was of an older environment"


def test_a_variant_whose_device_was_missing_is_not_timed(built: Workspace) -> None:
    variant = load_variant(built, "openblas", "theano-1.0.5").model_copy(
        update={"device": "opencl"}
    )
    write_report(built, PASSED)
    with pytest.raises(UsageError, match="its device was not available when it was verified"):
        candidates.require_candidates(built, [variant])
    device = {"name": "a GPU, compute capability 9.0", "driver": "CUDA 13.0", "where": "cuda0"}
    write_report(built, {**PASSED, "device": device})
    [candidate] = candidates.require_candidates(built, [variant])
    assert candidate.subject.device == Device(name=device["name"], driver="CUDA 13.0")


def test_of_two_stacks_of_one_name_the_one_that_is_not_built_is_refused(
    built: Workspace, tmp_path: Path
) -> None:
    variant = load_variant(built, "openblas", "theano-1.0.5")
    other = variant.model_copy(update={"file": tmp_path / "openblas/stack.yaml"})
    write_report(built, PASSED)
    with pytest.raises(UsageError, match="not built"):
        candidates.require_candidates(built, [variant, other])


def test_a_variant_that_is_not_built_is_refused(built: Workspace) -> None:
    with pytest.raises(UsageError, match=r"(?s)theano-1.0.5/mkl: not built.*invoke build"):
        candidates.require_candidates(built, [load_variant(built, "mkl", "theano-1.0.5")])
    with pytest.raises(UsageError, match="nothing to time"):
        command.choose_candidates(built, (), "theano-1.0.5")
