"""Flags that a framework is known to break on; the accelerator, on stand-ins for Theano."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR

framework_faults = importlib.import_module("verify.checks.framework_faults")


def context(
    name: str, flags: str = "", value: bool = False, version: str = "3.3.7"
) -> SimpleNamespace:
    framework = SimpleNamespace(
        name=name,
        version=version,
        amdlibm_flag="lib.amdlibm",
        flags_variable=f"{name.upper()}_FLAGS",
        rc_variable="PYTENSORRC",
        rc_file=f"~/.{name}rc",
        spelled=lambda flag: flag.replace(".", "__"),
        flag={"lib.amdlibm": value}.get,
    )
    return SimpleNamespace(framework=framework, expectation=None, user_flags=flags)


UNTIL, SECOND = "the gradient of a scan that ends by `until`", "second derivatives of a scan"
PROD, STRIDES = "prod(s * x, axis=...)", "a product in C with an array of numpy.broadcast_to"
BROADCAST = "the gradient of an array of length 1 that is broadcast"
PSI, TRI_GAMMA = "psi and tri_gamma in C are 0", "tri_gamma in C is 0"
SET, INC = "set_subtensor(x[i], y)[i] is y", "inc_subtensor(zeros[i], y)[i] is y"


@pytest.mark.parametrize(
    ("name", "version", "faults"),
    [
        ("theano", "0.8.2", (UNTIL, SECOND, PROD, STRIDES, PSI, SET, INC)),
        ("theano", "1.0.5", (UNTIL, SECOND, PROD, STRIDES, PSI, SET)),
        ("theano", "1.1.2", (UNTIL, SECOND, PROD, STRIDES, PSI, SET)),
        ("aesara", "2.8.7", (UNTIL, SECOND, BROADCAST, PROD, STRIDES, PSI, SET)),
        ("aesara", "2.9.3", (UNTIL,)),
        # Of versions between those that were tried nothing is known.
        ("theano", "1.0.4", ()),
        ("aesara", "2.8.8", ()),
        ("pytensor", "2.38.3", (UNTIL, SECOND, STRIDES, TRI_GAMMA, SET)),
        ("pytensor", "3.3.7", (STRIDES, TRI_GAMMA, SET)),
        ("pytensor", "3.3.8", ()),
    ],
)
def test_wrong_results_of_a_version_are_named(
    name: str, version: str, faults: tuple[str, ...]
) -> None:
    check = framework_faults.check(context(name, version=version))
    lines = check.detail.replace("none of this version", "").splitlines()
    if len(lines) > 1:
        assert lines.pop(0) == f"{len(lines)} of this version, and what to do instead"
    lines = [line for line in lines if "amdlibm is off" not in line]
    assert [line[: len(fault)] for line, fault in zip(lines, faults, strict=True)] == list(faults)
    assert all(": " in line for line in lines)
    assert check.status == ("pass" if check.detail != "none of this version" else "skip")


def test_a_flag_that_is_off_passes_with_the_fault_named() -> None:
    check = framework_faults.check(context("pytensor"))
    assert check.status == "pass"
    assert check.detail.splitlines()[1].startswith(
        "lib__amdlibm is off: PyTensor cannot compile exp"
    )


def test_a_flag_that_breaks_the_framework_fails_with_its_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTENSORRC", str(tmp_path / "rc"))
    (tmp_path / "rc").write_text("[lib]\namdlibm = True\n")
    check = framework_faults.check(context("pytensor", "lib__amdlibm=True", value=True))
    assert check.status == "fail"
    assert check.fix == (
        "remove lib__amdlibm=True from PYTENSOR_FLAGS\n"
        f"remove from {tmp_path}/rc:\n[lib]\namdlibm = True"
    )


PARTS = ("compiler", "ops", "scan", "cache", "replaced")
METHODS = {
    "gof.toolbox": ("ReplaceValidate", "replace_all_validate", "theano_stacks_replaced"),
    "tensor.subtensor": ("AdvancedSubtensor", "c_code", "theano_stacks_ops"),
}


class Accelerated:
    """The context of Theano with the accelerator, on stand-ins for both."""

    expectation = {"accelerator": ["theano-stacks"], "variant": "v", "framework": "f"}  # noqa: RUF012

    def __init__(self, monkeypatch: pytest.MonkeyPatch, version: str = "0.8.2") -> None:
        monkeypatch.delenv(framework_faults.QUICK_VARIABLE, raising=False)
        self.patch, self.found, self.hits = monkeypatch, {"hits": 0}, 1
        self.factors = iter([7.0, 7.0])
        self.framework = SimpleNamespace(
            version=version, variable=lambda *_: 1, function=self.compile
        )
        for part in PARTS:
            content = SimpleNamespace(found=self.found)
            monkeypatch.setitem(sys.modules, f"theano_stacks_{part}", content)
        for module, (_, _, defined_in) in METHODS.items():
            self.define(module, defined_in)
        self.set_nodes(framework_faults.NODES)

    def compile(self, *_: object, **__: object) -> Any:
        factor = next(self.factors)
        self.found["hits"] += self.hits
        return lambda values: SimpleNamespace(tolist=lambda: [factor * each for each in values])

    def define(self, module: str, defined_in: str) -> None:
        """Have a method of Theano be defined in another module."""
        name, method, _ = METHODS[module]
        owner = SimpleNamespace(**{method: SimpleNamespace(__module__=defined_in)})
        self.patch.setitem(sys.modules, f"theano.{module}", SimpleNamespace(**{name: owner}))

    def remove(self, part: str) -> None:
        self.patch.delitem(sys.modules, f"theano_stacks_{part}")

    def set_nodes(self, count: int) -> None:
        self.patch.setattr(framework_faults, "_gradient_nodes", lambda framework: count)


def test_only_environments_that_have_it_are_checked() -> None:
    def expected(content: object) -> bool:
        answer: bool = framework_faults.has_accelerator(SimpleNamespace(expectation=content))
        return answer

    assert expected({"accelerator": ["theano-stacks", "theano-stacks-scan"]})
    assert not any(expected(each) for each in (None, {}, {"accelerator": ["theano-stacks-scan"]}))


def test_accelerator_in_force_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    check = framework_faults.check_accelerator(Accelerated(monkeypatch))
    assert (check.status, check.fix) == ("pass", None)
    assert check.detail == "graphs are stored; the gradient of a scan has 66 nodes"
    newer = Accelerated(monkeypatch, version="1.0.5")
    newer.remove("replaced")
    assert framework_faults.check_accelerator(newer).status == "pass"


@pytest.mark.parametrize(
    ("damage", "detail"),
    [
        *((lambda a, p=part: a.remove(p), f"not in force: theano_stacks_{part}") for part in PARTS),
        (
            lambda a: a.define("gof.toolbox", "theano"),
            "replaced scans may come back into the graph",
        ),
        (lambda a: a.define("tensor.subtensor", "theano"), "indexing by arrays has no C code"),
        (lambda a: a.set_nodes(126), "the gradient of a scan has 126 nodes instead of 66"),
        (
            lambda a: setattr(a, "hits", 0),
            "a graph was not found again when it was compiled a second time",
        ),
        (
            lambda a: setattr(a, "factors", iter([7.0, 6.0])),
            "wrong numbers from a stored graph: [0.0, 7.0, 14.0], then [0.0, 6.0, 12.0]",
        ),
        (
            lambda a: a.patch.setenv(framework_faults.QUICK_VARIABLE, "0"),
            "THEANO_STACKS_QUICK=0 leaves Theano as it is",
        ),
    ],
)
def test_a_part_that_does_not_act_is_named(
    damage: Callable[[Accelerated], object], detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(accelerated := Accelerated(monkeypatch))
    check = framework_faults.check_accelerator(accelerated)
    assert (check.status, check.detail) == ("fail", detail)
    assert check.fix == ("unset THEANO_STACKS_QUICK" if "=0" in detail else REPAIR)
