"""Flags that a framework is known to break on; the accelerator, on stand-ins for Theano."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

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


def test_a_framework_without_known_faults_is_skipped() -> None:
    check = framework_faults.check(context("theano", version="3.0"))
    assert (check.status, check.detail) == ("skip", "none of this version")


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
    assert check.status != "fail"


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


EXPECTATION = {"accelerator": ["theano-stacks"], "variant": "v", "framework": "f"}
PARTS = ("compiler", "ops", "scan", "cache", "replaced")


class Function:
    """A compiled function, which is taken from the cache the second time."""

    def __init__(self, found: dict[str, int], hit: bool, factor: float) -> None:
        found["hits"] += hit
        self.factor = factor

    def __call__(self, values: list[float]) -> SimpleNamespace:
        return SimpleNamespace(tolist=lambda: [self.factor * value for value in values])


@pytest.fixture
def accelerated(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Give the context of Theano 0.8.2 with the accelerator."""
    monkeypatch.delenv(framework_faults.QUICK_VARIABLE, raising=False)
    found = {"hits": 0}
    for part in PARTS:
        monkeypatch.setitem(sys.modules, f"theano_stacks_{part}", SimpleNamespace(found=found))
    monkeypatch.setattr(framework_faults, "_keeps_replaced_scans_out", lambda: True)
    monkeypatch.setattr(framework_faults, "_has_c_code", lambda: True)
    monkeypatch.setattr(
        framework_faults, "_gradient_nodes", lambda framework: framework_faults.NODES
    )

    class Symbol:
        def __rmul__(self, number: float) -> float:
            return number

    made: list[Function] = []

    def function(*_: object, **__: object) -> Function:
        hits = framework.hits and bool(made)
        made.append(Function(found, hits, framework.factors[len(made)]))
        return made[-1]

    framework = SimpleNamespace(
        version="0.8.2",
        hits=True,
        factors=[7.0, 7.0],
        variable=lambda *_: Symbol(),
        function=function,
    )
    return SimpleNamespace(framework=framework, expectation=EXPECTATION)


def test_only_environments_that_have_it_are_checked() -> None:
    def expected(content: object) -> bool:
        answer: bool = framework_faults.has_accelerator(SimpleNamespace(expectation=content))
        return answer

    assert expected({"accelerator": ["theano-stacks", "theano-stacks-scan"]})
    assert not any(expected(each) for each in (None, {}, {"accelerator": ["theano-stacks-scan"]}))


def test_accelerator_in_force_passes(accelerated: SimpleNamespace) -> None:
    check = framework_faults.check_accelerator(accelerated)
    assert (check.status, check.fix) == ("pass", None)
    assert check.detail == "graphs are stored; the gradient of a scan has 66 nodes"


@pytest.mark.parametrize("part", PARTS)
def test_missing_part_is_named(
    accelerated: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.delitem(sys.modules, f"theano_stacks_{part}")
    check = framework_faults.check_accelerator(accelerated)
    assert (check.status, check.detail) == ("fail", f"not in force: theano_stacks_{part}")
    if part == "replaced":
        accelerated.framework.version = "1.0.5"
        assert framework_faults.check_accelerator(accelerated).status == "pass"


def test_part_that_was_imported_but_does_not_act_fails(
    accelerated: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framework_faults, "_gradient_nodes", lambda framework: 126)
    check = framework_faults.check_accelerator(accelerated)
    assert check.status == "fail" and "126 nodes instead of 66" in check.detail
    monkeypatch.setattr(framework_faults, "_has_c_code", lambda: False)
    assert (
        framework_faults.check_accelerator(accelerated).detail == "indexing by arrays has no C code"
    )
    monkeypatch.setattr(framework_faults, "_keeps_replaced_scans_out", lambda: False)
    assert "replaced scans may come back" in framework_faults.check_accelerator(accelerated).detail


def test_graph_that_is_not_found_again_fails(accelerated: SimpleNamespace) -> None:
    accelerated.framework.hits = False
    check = framework_faults.check_accelerator(accelerated)
    assert check.status == "fail" and "not found again" in check.detail


def test_wrong_numbers_fail(accelerated: SimpleNamespace) -> None:
    accelerated.framework.factors = [7.0, 6.0]
    check = framework_faults.check_accelerator(accelerated)
    assert check.status == "fail"
    assert check.detail.endswith("[0.0, 7.0, 14.0], then [0.0, 6.0, 12.0]")
