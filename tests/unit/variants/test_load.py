"""Variants by their names, and what is refused."""

from __future__ import annotations

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.load import all_variants, default_framework, load_variant, on_framework, select
from unit.variants.conftest import BASE, FRAMEWORK, Envs


def test_a_framework_without_its_version(workspace: Workspace) -> None:
    assert load_variant(workspace, "mkl", "aesara").id == "aesara-2.8.7/mkl"
    assert {v.framework.name for v in on_framework(workspace, "aesara")} == {"aesara-2.8.7"}
    with pytest.raises(UsageError, match="unknown framework"):
        load_variant(workspace, "mkl", "theano")


def test_a_name_may_carry_its_framework(workspace: Workspace) -> None:
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
        (
            {"a": "extends: b\n", "b": "extends: c\n", "c": "blas: numpy\nextends: b\n"},
            "a",
            "envs/variants/c.yaml:3:10: `extends` forms a circle\n  found:    b extends c extends b"
            "\n  fix:      remove `extends` from one of them",
        ),
        (
            {"a": "extends: bsae\n"},
            "a",
            "envs/variants/a.yaml:2:10: unknown variant\n  expected: one of a, base\n"
            "  found:    'bsae'\n  fix:      did you mean 'base'?",
        ),
        (
            {"a": "extends: b\n", "b": "python_packages: pip\nblas: OpenBLAS\n"},
            "a",
            "envs/variants/b.yaml:3:7: unknown BLAS\n  expected: one of blis, numpy, openblas\n"
            "  found:    'OpenBLAS'\n  fix:      did you mean 'openblas'?",
        ),
        (
            {"a": "extends: b\n", "b": "blas: numpy\n"},
            "a",
            "envs/variants/a.yaml: expected the key 'python_packages', here or in what it extends, "
            "found none",
        ),
        (
            {"a": "extends: base\nframeworks: [theano-1, theano1]\n"},
            "theano-2/a",
            "envs/variants/a.yaml:3:24: unknown framework"
            + ONE_OF_TWO.format("theano1")
            + "\n  fix:      did you mean 'theano-1'?",
        ),
        (
            {"a": "extends: base\nframeworks: [theano-1]\n"},
            "theano-2/a",
            "a does not support theano-2\n  expected: one of theano-1",
        ),
        (
            {},
            "bas",
            "unknown variant\n  expected: one of base\n  found:    'bas'\n"
            "  fix:      did you mean 'base'?",
        ),
        ({}, "pytensor/base", "unknown framework" + ONE_OF_TWO.format("pytensor")),
        (
            {"../frameworks/theano-1": TWO_DEFAULTS},
            "base",
            "envs/frameworks: no framework is the default\n"
            "  expected: `default: true` in exactly one file\n  found:    theano-1, theano-2",
        ),
    ],
)
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
