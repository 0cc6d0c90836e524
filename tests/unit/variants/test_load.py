"""Flavours on frameworks: what they resolve to, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.variants.load import (
    all_variants,
    default_framework,
    flavour_names,
    framework_names,
    load_variant,
    on_framework,
    select,
)

FRAMEWORK = """\
summary: Theano {version}
module: theano
version: "{version}"
python: "3.9"
flags_variable: THEANO_FLAGS
rc_variable: THEANORC
base: [python 3.9.*, gxx]
packages: [numpy ==1.22.4, theano =={version}]
pip: [six==1.16.0, numpy==1.22.4, Theano=={version}]
"""
BLAS = "summary: {0}\npackage: lib{0}\nldflags: -l{0}\nlibraries: ['lib{0}.so*']\n"
BASE = "summary: base\npython_packages: pip\nblas: numpy\nbaseline: true\n"

Write = Callable[[str, str], None]


@pytest.fixture
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "envs"


@pytest.fixture
def write(envs: Path) -> Write:
    def write(name: str, text: str) -> None:
        path = envs / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("frameworks/theano-2", FRAMEWORK.format(version="2") + "default: true\n")
    write("frameworks/theano-1", FRAMEWORK.format(version="1"))
    write("blas/openblas", BLAS.format("openblas") + "environment: {BLAS_VARIABLE: '1', X: blas}\n")
    write("blas/blis", BLAS.format("blis"))
    write("variants/base", BASE)
    return write


def refused(workspace: Workspace, envs: Path, name: str, framework: str | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load_variant(replace(workspace, root=envs.parent), name, framework)
    return str(caught.value)


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


def test_extends_lays_one_over_the_other(workspace: Workspace, envs: Path, write: Write) -> None:
    write(
        "variants/one",
        "summary: one\nextends: base\nblas: openblas\nbaseline: false\nfloatX: float32\n"
        "flags: {a.b: '1', c: '2'}\nenvironment: {X: one, Y: one}\npackages: [p]\n",
    )
    write(
        "variants/two",
        "summary: two\nextends: one\nlibm: amdlibm\nflags: {c: '3'}\nenvironment: {Y: two}\n"
        "packages: [q]\n",
    )
    variant = load_variant(replace(workspace, root=envs.parent), "two", None)
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
    assert variant.environment() == {"BLAS_VARIABLE": "1", "X": "one", "Y": "two"}
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


def test_a_default_that_is_not_given_does_not_undo_what_is_extended(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("variants/one", "summary: one\nextends: base\n")
    assert load_variant(replace(workspace, root=envs.parent), "one", None).baseline


def test_a_circle(workspace: Workspace, envs: Path, write: Write) -> None:
    write("variants/a", "summary: a\nextends: b\n")
    write("variants/b", "summary: b\nextends: c\n")
    write("variants/c", "summary: c\nblas: numpy\nextends: b\n")
    assert refused(workspace, envs, "a") == (
        "envs/variants/c.yaml:3:10: `extends` forms a circle\n"
        "  found:    b extends c extends b\n"
        "  fix:      remove `extends` from one of them"
    )


def test_extends_what_does_not_exist(workspace: Workspace, envs: Path, write: Write) -> None:
    write("variants/a", "summary: a\nextends: bsae\n")
    assert refused(workspace, envs, "a") == (
        "envs/variants/a.yaml:2:10: unknown variant\n"
        "  expected: one of a, base\n"
        "  found:    'bsae'\n"
        "  fix:      did you mean 'base'?"
    )


def test_the_error_for_an_unknown_blas_names_its_line(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("variants/a", "summary: a\nextends: b\n")
    write("variants/b", "summary: b\npython_packages: pip\nblas: OpenBLAS\n")
    assert refused(workspace, envs, "a") == (
        "envs/variants/b.yaml:3:7: unknown BLAS\n"
        "  expected: one of blis, numpy, openblas\n"
        "  found:    'OpenBLAS'\n"
        "  fix:      did you mean 'openblas'?"
    )


def test_a_key_missing_from_the_whole_chain_is_an_error(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("variants/a", "summary: a\nextends: b\n")
    write("variants/b", "summary: b\nblas: numpy\n")
    assert refused(workspace, envs, "a") == (
        "envs/variants/a.yaml:1:1: expected the key 'python_packages', "
        "here or in what it extends, found none"
    )


def test_unknown_names(workspace: Workspace, envs: Path, write: Write) -> None:
    assert refused(workspace, envs, "bas") == (
        "unknown variant\n  expected: one of base\n  found:    'bas'\n"
        "  fix:      did you mean 'base'?"
    )
    assert "/base/stack.yaml: no such file\n" in refused(workspace, envs, "../base")
    assert refused(workspace, envs, "base", "pytensor") == (
        "unknown framework\n  expected: one of theano-1, theano-2\n  found:    'pytensor'"
    )


def test_frameworks_limits_where_a_flavour_exists(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    write("variants/a", "summary: a\nextends: base\nframeworks: [theano-1]\n")
    assert [v.id for v in all_variants(replace(workspace, root=envs.parent))] == [
        "theano-1/a",
        "theano-1/base",
        "theano-2/base",
    ]
    assert load_variant(replace(workspace, root=envs.parent), "a", None).id == "theano-1/a"
    assert refused(workspace, envs, "a", "theano-2") == (
        "a does not support theano-2\n  expected: one of theano-1"
    )
    write("variants/a", "summary: a\nextends: base\nframeworks: [theano-1, theano1]\n")
    assert refused(workspace, envs, "a").startswith(
        "envs/variants/a.yaml:3:24: unknown framework\n"
    )


def test_exactly_one_framework_is_the_default(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    assert default_framework(replace(workspace, root=envs.parent)) == "theano-2"
    write("frameworks/theano-1", FRAMEWORK.format(version="1") + "default: true\n")
    assert refused(workspace, envs, "base") == (
        "envs/frameworks: no framework is the default\n"
        "  expected: `default: true` in exactly one file\n"
        "  found:    theano-1, theano-2"
    )


def test_the_default_is_no_part_of_what_a_lock_follows_from(
    workspace: Workspace, envs: Path, write: Write
) -> None:
    before = load_variant(
        replace(workspace, root=envs.parent), "base", "theano-1"
    ).model_dump_json()
    write("frameworks/theano-1", FRAMEWORK.format(version="1") + "default: false\n")
    assert (
        load_variant(replace(workspace, root=envs.parent), "base", "theano-1").model_dump_json()
        == before
    )


def test_the_projects_own(workspace: Workspace) -> None:
    assert default_framework(workspace) == "theano-1.0.5"
    assert {"theano-0.8.2", "theano-1.0.5"} <= set(framework_names(workspace))
    assert {"openblas", "pip-default", "pip-openblas"} <= set(flavour_names(workspace))
    assert [
        v.id for v in all_variants(workspace) if v.baseline and v.framework.module == "theano"
    ] == ["theano-0.8.2/pip-default", "theano-1.0.5/pip-default", "theano-pymc-1.1.2/pip-default"]


NASTY = "fast\\n[global]\\ncxx = evil"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("variants/a", 'summary: "{}"'),
        ("variants/a", 'flags: {{blas.ldflags: "{}"}}'),
        ("variants/a", 'flags: {{"{}": x}}'),
        ("variants/a", 'environment: {{X: "{}"}}'),
        ("variants/a", 'environment: {{"{}": x}}'),
        ("variants/a", 'packages: ["{}"]'),
        ("blas/openblas", 'summary: "{}"'),
        ("blas/openblas", 'package: "{}"'),
        ("blas/openblas", 'ldflags: "{}"'),
        ("blas/openblas", 'libraries: ["{}"]'),
        ("blas/openblas", 'threads: ["{}"]'),
        ("frameworks/theano-2", 'summary: "{}"'),
        ("frameworks/theano-2", 'version: "{}"'),
        ("frameworks/theano-2", 'rc_variable: "{}"'),
        ("frameworks/theano-2", 'flags_variable: "{}"'),
        ("frameworks/theano-2", 'amdlibm_flag: "{}"'),
        ("frameworks/theano-2", 'base: ["{}"]'),
        ("frameworks/theano-2", 'accelerator: ["{}"]'),
        ("frameworks/theano-2", 'pip: ["{}"]'),
    ],
)
def test_a_value_that_would_inject_lines_is_refused_with_file_and_line(
    workspace: Workspace, envs: Path, write: Write, file: str, line: str
) -> None:
    key = line.partition(":")[0]
    texts = {
        "variants/a": "summary: a\npython_packages: pip\nblas: openblas\n",
        "blas/openblas": BLAS.format("openblas"),
        "frameworks/theano-2": FRAMEWORK.format(version="2") + "default: true\n",
    }
    kept = [one for one in texts[file].splitlines() if not one.startswith(f"{key}:")]
    write("variants/a", texts["variants/a"])
    write(file, "\n".join([*kept, line.format(NASTY)]) + "\n")
    message = refused(workspace, envs, "a", "theano-2")
    assert message.startswith(f"envs/{file}.yaml:{len(kept) + 1}:")
    assert r"found 'fast\n[global]\ncxx = evil'" in message or "the name of a" in message


@pytest.mark.parametrize("name", ["a b", "a;reboot", "a\nRUN evil", "$(evil)", "-a", "A"])
def test_a_file_whose_name_cannot_be_in_a_command_is_refused(
    workspace: Workspace, envs: Path, write: Write, name: str
) -> None:
    write(f"variants/{name}", BASE)
    message = refused(workspace, envs, "base")
    assert message.startswith("envs/variants: the name of a file is not valid\n")
    assert repr(name) in message


@pytest.mark.parametrize("channel", ["../../x", "a b", "a\nb", "/etc"])
def test_the_name_of_a_channel_stays_in_its_folder(
    workspace: Workspace, envs: Path, write: Write, channel: str
) -> None:
    message = refused(workspace, envs, f"base@{channel}")
    assert f"base@{channel}: the name of a channel is not valid" in message
