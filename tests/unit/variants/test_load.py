"""Variants by their names, what they are made of, and what is refused."""

from collections.abc import Iterator
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.core.models import Strict
from stacks.core.workspace import Workspace
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile
from stacks.variants.load import all_variants, default_framework, load_variant, on_framework, select
from stacks.variants.stack import StackFile
from unit.variants.conftest import BASE, FRAMEWORK, Envs


def test_a_framework_without_its_version_and_one_in_the_name(workspace: Workspace) -> None:
    assert load_variant(workspace, "mkl", "aesara").id == "aesara-2.8.7/mkl"
    assert {v.framework.name for v in on_framework(workspace, "aesara")} == {"aesara-2.8.7"}
    with pytest.raises(UsageError, match="unknown framework"):
        load_variant(workspace, "mkl", "theano")
    name = "theano-0.8.2/mkl"
    assert load_variant(workspace, name).id == name
    assert load_variant(workspace, name, "theano-0.8.2").id == name
    assert load_variant(workspace, "mkl", "theano-0.8.2").id == name
    assert [v.id for v in select(workspace, name)] == [name]
    with pytest.raises(UsageError, match=r"--framework theano-1\.0\.5: theano-0\.8\.2/mkl"):
        load_variant(workspace, name, "theano-1.0.5")
    with pytest.raises(UsageError, match="unknown framework"):
        select(workspace, "theano-7/mkl")
    assert load_variant(workspace, "mkl").id == "theano-1.0.5/mkl"


ONE_OF_TWO = "\n  expected: one of theano-1, theano-2\n  found:    '{}'"


TWO_DEFAULTS = FRAMEWORK.format(version="1") + "default: true\n"


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({"a": "extends: b\n", "b": "extends: c\n", "c": "blas: numpy\nextends: b\n"}, "a",
         "envs/variants/c.yaml:3:10: `extends` forms a circle\n  found:    b extends c extends b"
         "\n  fix:      remove `extends` from one of them"),
        ({"a": "extends: bsae\n"}, "a",
         "envs/variants/a.yaml:2:10: unknown variant\n  expected: one of a, base\n"
         "  found:    'bsae'\n  fix:      did you mean 'base'?"),
        ({"a": "extends: b\n", "b": "python_packages: pip\nblas: OpenBLAS\n"}, "a",
         "envs/variants/b.yaml:3:7: unknown BLAS\n  expected: one of blis, numpy, openblas\n"
         "  found:    'OpenBLAS'\n  fix:      did you mean 'openblas'?"),
        ({"a": "extends: b\n", "b": "blas: numpy\n"}, "a",
         "envs/variants/a.yaml: expected the key 'python_packages', here or in what it extends, "
         "found none"),
        ({"a": "extends: base\nframeworks: [theano-1, theano1]\n"}, "theano-2/a",
         "envs/variants/a.yaml:3:24: unknown framework"
         + ONE_OF_TWO.format("theano1")
         + "\n  fix:      did you mean 'theano-1'?"),
        ({"a": "extends: base\nframeworks: [theano-1]\n"}, "theano-2/a",
         "a does not support theano-2\n  expected: one of theano-1"),
        ({}, "bas", "unknown variant\n  expected: one of base\n  found:    'bas'\n"
         "  fix:      did you mean 'base'?"),
        ({}, "pytensor/base", "unknown framework" + ONE_OF_TWO.format("pytensor")),
        ({"../frameworks/theano-1": TWO_DEFAULTS}, "base",
         "envs/frameworks: no framework is the default\n"
         "  expected: `default: true` in exactly one file\n  found:    theano-1, theano-2"),
    ],
)  # fmt: skip
def test_what_is_refused(files: dict[str, str], name: str, message: str, envs: Envs) -> None:
    for file, text in files.items():
        summary = "" if "summary: " in text else "summary: s\n"
        envs.write(**{f"variants/{file}": summary + text})
    assert envs.refused(name) == message


def test_frameworks_limits_where_a_flavour_exists(envs: Envs) -> None:
    envs.write(**{"variants/a": "summary: a\nextends: base\nframeworks: [theano-1]\n"})
    assert [v.id for v in all_variants(envs.workspace)] == [
        "theano-1/a",
        "theano-1/base",
        "theano-2/base",
    ]
    assert envs.load("a").id == "theano-1/a"
    assert default_framework(envs.workspace) == "theano-2"


@pytest.mark.parametrize("name", ["a b", "a\nRUN evil", "$(evil)", "-a", "A"])
def test_a_name_that_cannot_be_in_a_command_or_leaves_its_folder(name: str, envs: Envs) -> None:
    message = envs.refused(f"base@../{name}")
    assert f"base@../{name}: the name of a channel is not valid" in message
    envs.write(**{f"variants/{name}": BASE})
    message = envs.refused("base")
    assert message.startswith("envs/variants: the name of a file is not valid\n")
    assert repr(name) in message


def test_all_frameworks_of_a_flavour_or_one(workspace: Workspace) -> None:
    names = [v.id for v in select(workspace, "openblas@conda-forge")]
    assert len(names) == 6 and all(name.endswith("/openblas@conda-forge") for name in names)
    assert [v.id for v in select(workspace, "mkl", "theano-0.8.2")] == ["theano-0.8.2/mkl"]
    with pytest.raises(UsageError, match="mkl-amdlibm does not support pytensor"):
        select(workspace, "mkl-amdlibm", "pytensor-3.3.7")
    with pytest.raises(UsageError, match="unknown variant"):
        select(workspace, "nothing@conda-forge")


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
