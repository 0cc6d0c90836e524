"""What flavours on frameworks mean: their packages, flags and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.core.models import Strict
from stacks.core.workspace import Workspace
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile
from stacks.variants.load import load_variant
from stacks.variants.stack import StackFile
from unit.variants.conftest import FRAMEWORK, Envs


def test_extends_lays_one_over_the_other(envs: Envs) -> None:
    one = "summary: one\nextends: base\nblas: openblas\nbaseline: false\nfloatX: float32\n"
    one += "flags: {a.b: '1', c: '2'}\nenvironment: {X: one, Y: one}\npackages: [p]\n"
    two = "summary: two\nextends: one\nlibm: amdlibm\nflags: {c: '3'}\nenvironment: {Y: two}\n"
    envs.write(**{"variants/one": one, "variants/two": two + "packages: [q]\n"})
    variant = envs.load("two")
    assert variant.summary == "two"
    assert (variant.python_packages, variant.floatX, variant.baseline) == ("pip", "float32", False)
    assert variant.theano_flags() == {
        "floatX": "float32",
        "device": "cpu",
        "blas.ldflags": "-lopenblas",
        "lib.amdlibm": "True",
        "a.b": "1",
        "c": "3",
    }
    assert variant.variables == {"BLAS_VARIABLE": "1", "X": "one", "Y": "two"}
    assert variant.conda_specs() == (
        "amdlibm-compat",
        "blas-threads=*=*openblas",
        "gxx",
        "libopenblas",
        "p",
        "python 3.9.*",
        "q",
        "theano-settings=2=*_0_two",
    )
    # A default that is not given does not undo what is extended.
    envs.write(**{"variants/one": "summary: one\nextends: base\n"})
    assert envs.load("one").baseline


def test_a_pip_flavour_takes_its_packages_from_pip(envs: Envs) -> None:
    variant = envs.load("base")
    assert (variant.id, variant.baseline, variant.blas) == ("theano-2/base", True, None)
    assert variant.conda_specs() == ("gxx", "python 3.9.*", "theano-settings=2=*_0_base")
    assert variant.pip_requirements() == ("six==1.16.0", "numpy==1.22.4", "Theano==2")
    # Through NumPy: empty flags, not missing ones.
    assert variant.theano_flags() == {"floatX": "float64", "device": "cpu", "blas.ldflags": ""}


def test_a_conda_flavour_takes_all_from_conda_and_numpys_libblas_is_its_blas(envs: Envs) -> None:
    for name in ("openblas", "blis"):
        text = f"summary: s\npython_packages: conda\nblas: {name}\n"
        envs.write(**{f"variants/{name}": text})
    envs.write(**{"variants/pip-blis": "summary: s\nextends: base\nblas: blis\n"})
    variant = envs.load("openblas", "theano-1")
    assert variant.conda_specs() == (
        "blas-threads=*=*openblas",
        "gxx",
        "libblas=*=*openblas",
        "libopenblas",
        "numpy ==1.22.4",
        "python 3.9.*",
        "theano ==1",
        "theano-settings=1=*_0_openblas",
    )
    assert variant.pip_requirements() == ()
    assert variant.theano_flags()["blas.ldflags"] == "-lopenblas"
    assert variant.blas and variant.blas.name == "openblas"
    assert {"libblis", "libblas=*=*blis"} <= {*envs.load("blis").conda_specs()}
    assert "libblas=*=*blis" not in envs.load("pip-blis").conda_specs()


def test_the_accelerator_belongs_to_all_flavours_but_the_baseline(envs: Envs) -> None:
    text = FRAMEWORK.format(version="1") + "accelerator: [a, b]\n"
    other_text = "summary: s\nextends: base\nbaseline: false\n"
    envs.write(**{"frameworks/theano-1": text, "variants/other": other_text})
    baseline, other = (envs.load(name, "theano-1") for name in ("base", "other"))
    assert (baseline.accelerator, other.accelerator) == ((), ("a", "b"))
    assert {"a", "b"} <= {*other.conda_specs()} and not {"a"} & {*baseline.conda_specs()}


def test_a_framework_that_spells_the_flag_of_amds_libm_in_its_own_way(workspace: Workspace) -> None:
    ours = load_variant(workspace, "mkl-amdlibm", "theano-pymc-1.1.2")
    assert ours.theano_flags()["lib.amblibm"] == "True"
    assert "lib.amdlibm" not in ours.theano_flags()
    assert '"amdlibm_flag":"lib.amblibm"' in ours.model_dump_json()
    # Nothing of it is in what other frameworks' locks follow from.
    theanos = load_variant(workspace, "mkl-amdlibm", "theano-1.0.5")
    assert theanos.theano_flags()["lib.amdlibm"] == "True"
    assert "amdlibm_flag" not in theanos.model_dump_json()


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
@pytest.mark.parametrize("framework", ["theano-0.8.2", "pytensor-3.3.7"])
def test_the_specs_for_another_channel(
    workspace: Workspace, flavour: str, specs: set[str], framework: str
) -> None:
    names = (flavour, f"{flavour}@conda-forge")
    ours, theirs = (load_variant(workspace, name, framework) for name in names)
    known = {*ours.framework.base, *ours.framework.packages}
    assert {*theirs.conda_specs()} - known == specs
    assert {*theirs.conda_specs()} & known == {*ours.conda_specs()} & known
    assert theirs.id == f"{framework}/{flavour}@conda-forge"
    assert theirs.one_blas == ours.one_blas
    # The library that chooses the number of threads is of this project's channel only.
    without = ours.theano_flags()["blas.ldflags"].replace("-lblas_threads ", "")
    assert theirs.theano_flags() == {**ours.theano_flags(), "blas.ldflags": without}


def test_what_differs_in_another_channels_libraries(workspace: Workspace) -> None:
    ours, theirs = load_variant(workspace, "mkl"), load_variant(workspace, "mkl@conda-forge")
    # As gfortran calls it.
    assert theirs.variables == {**ours.variables, "MKL_INTERFACE_LAYER": "LP64,GNU"}
    blis, other = (load_variant(workspace, name).blas for name in ("blis", "blis@conda-forge"))
    assert blis and blis.processors
    assert other and other.processors == (), "those are of our versions"
    with pytest.raises(UsageError, match="is not available with another channel's") as caught:
        load_variant(workspace, "mkl-amdlibm@conda-forge")
    assert "only this project's channel" in str(caught.value.found)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all mappings in a JSON schema."""
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from parts(each)


@pytest.mark.parametrize("model", [FlavourFile, FrameworkFile, BlasFile, StackFile])
def test_every_text_that_a_file_may_have_is_limited_by_a_pattern(model: type[Strict]) -> None:
    found = [*parts(model.model_json_schema())]
    texts = [each for each in found if each.get("type") == "string"]
    assert len(texts) > 5 and all({"pattern", "enum", "const"} & each.keys() for each in texts)
    # The pattern of a mapping's keys is in patternProperties.
    assert not any(isinstance(each.get("additionalProperties"), dict) for each in found)
