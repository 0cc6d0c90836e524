"""The checks of libm: they pass if amdlibm-compat is called, and fail if not."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.checking import checked, edited
from integration.conftest import Prefix
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.variants.load import load_variant


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-pymc-1.1.2"])
def test_array_functions_that_are_called(prefix: Prefix, framework: str) -> None:
    place = prefix(framework, "openblas-amdlibm")
    found = checked(place, "libm", "loops", "accuracy", "registers")
    assert [check.status for check in found] == ["pass"] * 4
    assert found[0].detail.startswith("amdlibm-compat 1.0 (not AMD's)")


def test_a_flag_of_another_name_than_the_frameworks(prefix: Prefix, tmp_path: Path) -> None:
    """Theano-PyMC has no lib.amdlibm; its name for the flag is lib.amblibm."""
    place = prefix("theano-pymc-1.1.2", "openblas")
    expect = edited(place, tmp_path, flags={"lib.amdlibm": "True"})
    settings, libm = checked(place, "settings", "libm", expect=expect)
    assert settings.status == libm.status == "fail"
    assert "lib.amdlibm is None, not True" in settings.detail
    assert "lib.amblibm is off" in libm.detail


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("include/amdlibm.h", "the compiler finds no header amdlibm.h"),
        ("lib/libamdlibm.so", "the linker or the loader finds no libamdlibm.so"),
    ],
)
def test_a_missing_header_or_library(
    workspace: Workspace, tmp_path: Path, missing: str, reason: str
) -> None:
    variant = load_variant(workspace, "openblas-amdlibm", "theano-1.0.5")
    place = pipeline.make_environment(workspace, variant, tmp_path / "environment")
    (place / missing).unlink()
    (libm,) = checked(place, "libm")
    assert libm.status == "fail"
    assert libm.detail == f"exp does not compile: {reason}"
    repair = "./invoke build --variant openblas-amdlibm --repair"
    assert libm.fix == f"put the files back:\n{repair}"
    # The command is for the environment of the checkout; this one is elsewhere.
    pipeline.make_environment(workspace, variant, place, repair=True)
    assert checked(place, "libm")[0].status == "pass"
