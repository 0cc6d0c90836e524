"""The flavours as they are asked of another channel: by conda-forge's names."""

from __future__ import annotations

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant, select


@pytest.mark.parametrize(
    ("flavour", "specs"),
    [
        ("openblas", {"libblas=*=*openblas", "openblas"}),
        ("mkl", {"libblas=*=*mkl", "mkl", "mkl-devel"}),
        ("blis", {"libblas=*=*blis", "blis"}),
        ("pip-openblas", {"openblas"}),
        ("pip-default", set()),
    ],
)
@pytest.mark.parametrize("framework", ["theano-0.8.2", "theano-1.0.5", "pytensor-3.3.7"])
def test_the_specs_for_another_channel(
    workspace: Workspace, flavour: str, specs: set[str], framework: str
) -> None:
    ours, theirs = (
        load_variant(workspace, n, framework) for n in (flavour, f"{flavour}@conda-forge")
    )
    known = {*ours.framework.base, *ours.framework.packages}
    assert {*theirs.conda_specs()} - known == specs
    assert {*theirs.conda_specs()} & known == {*ours.conda_specs()} & known
    assert theirs.id == f"{framework}/{flavour}@conda-forge"
    # The library that chooses the number of threads is of this project's channel only.
    without = ours.theano_flags()["blas.ldflags"].replace("-lblas_threads ", "")
    assert theirs.theano_flags() == {**ours.theano_flags(), "blas.ldflags": without}


def test_mkl_is_called_as_gfortran_does(workspace: Workspace) -> None:
    ours, theirs = load_variant(workspace, "mkl"), load_variant(workspace, "mkl@conda-forge")
    assert ours.environment()["MKL_INTERFACE_LAYER"] == "LP64"
    assert theirs.environment() == {**ours.environment(), "MKL_INTERFACE_LAYER": "LP64,GNU"}


def test_processors_of_our_versions_do_not_apply_to_another_channel(workspace: Workspace) -> None:
    ours, theirs = (load_variant(workspace, name).blas for name in ("blis", "blis@conda-forge"))
    assert ours and ours.processors
    assert theirs and theirs.processors == ()


def test_numpy_is_linked_to_the_same_blas_on_every_framework(workspace: Workspace) -> None:
    assert load_variant(workspace, "openblas@x", "pytensor-3.3.7").one_blas
    assert load_variant(workspace, "openblas", "pytensor-3.3.7").one_blas
    assert not load_variant(workspace, "pip-openblas@x").one_blas


@pytest.mark.parametrize("flavour", ["mkl-amdlibm", "openblas-amdlibm"])
def test_a_library_that_only_our_channel_has(workspace: Workspace, flavour: str) -> None:
    with pytest.raises(UsageError, match="is not available with another channel's") as caught:
        load_variant(workspace, f"{flavour}@conda-forge")
    assert caught.value.found and "only this project's channel" in str(caught.value.found)


def test_all_frameworks_of_a_flavour_or_one(workspace: Workspace) -> None:
    names = [v.id for v in select(workspace, "openblas@conda-forge")]
    assert len(names) == 6 and all(name.endswith("/openblas@conda-forge") for name in names)
    assert [v.id for v in select(workspace, "mkl", "theano-0.8.2")] == ["theano-0.8.2/mkl"]
    with pytest.raises(UsageError, match="mkl-amdlibm does not support pytensor"):
        select(workspace, "mkl-amdlibm", "pytensor-3.3.7")
    with pytest.raises(UsageError, match="unknown variant"):
        select(workspace, "nothing@conda-forge")
