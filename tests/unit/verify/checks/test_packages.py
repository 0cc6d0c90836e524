"""The installed packages and the loaded framework against the lock; faults of a version.

The accelerator is tried on stand-ins for Theano: no part of it fails in silence.
"""

import json
import platform
import site
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR, context
from verify.checks import framework_faults, versions
from verify.core import fixes, packages


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution, two of another name, a conda package, and two modules."""
    for name in ("some_dist-1.2.3+cpu", "twice-1.2", "Twice-1.10"):
        (tmp_path / f"{name}.dist-info").mkdir()
    (tmp_path / "conda-meta").mkdir()
    record = {"name": "libblas", "version": "3.9"}
    (tmp_path / "conda-meta/libblas-3.9-0.json").write_text(json.dumps(record))
    # As an interrupted installation leaves them.
    (tmp_path / "conda-meta/unknown-1-0.json").write_text("{")
    (tmp_path / "conda-meta/unknown-2-0.json").write_text("[]")
    (tmp_path / "va_module.py").write_text("__version__ = '2.0'")
    (tmp_path / "va_plain.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(versions, "DIAGNOSED", ("some-dist", "loaded", "not-installed"))
    monkeypatch.setitem(sys.modules, "loaded", SimpleNamespace(__version__="9"))
    (tmp_path / "loaded-1.2.dist-info").mkdir()


def expectation(*packages: str, version: str = "1.0.5") -> dict[str, Any]:
    """Return a lock with packages, `name version` or `name version module` each."""
    keys = ("name", "version", "module")
    return {
        "python": platform.python_version(),
        "variant": "v",
        "framework": "f",
        "module": "theano",
        "version": version,
        "packages": [
            dict(zip(keys, each.split(), strict=False)) for each in ("python -", *packages)
        ],
    }


@pytest.mark.parametrize(
    ("packages", "fault"),
    [
        (["Some.Dist 1.2.3", "libblas 3.9", "another 2.0 va_module", "unknown 1"], None),
        (["some-dist 9"], "some-dist 1.2.3+cpu, locked: 9"),
        (["another 1.0 va_module"], "another 2.0, locked: 1.0"),
        # As pip leaves them where it does not find the RECORD of the first.
        (["twice 1.2"], "twice 1.10 and 1.2, locked: 1.2"),
        # A module, imported already or not, is of another version than its metadata.
        (["some-dist 1.2.3 va_module"], "some-dist 1.2.3+cpu and 2.0, locked: 1.2.3"),
        (["loaded 1.2"], "loaded 1.2 and 9, locked: 1.2"),
        # A module is missing, or has no version.
        (["another 1.0 va_missing"], "another is missing"),
        (["another 1.0 va_plain"], "another is missing"),
    ],
)
def test_versions_of_distributions_conda_packages_and_modules(
    packages: list[str], fault: str | None
) -> None:
    check = versions.check(context(expectation=expectation(*packages)))
    passes = ("pass", "5 as locked, 1 without a version", None)
    assert check[1:4] == (("fail", fault, REPAIR) if fault else passes)


def test_another_framework_than_the_locked_one_fails() -> None:
    check = versions.check(context(expectation=expectation("some-dist 9", version="0.8.2")))
    assert check.detail == "theano 1.0.5, locked: 0.8.2; some-dist 1.2.3+cpu, locked: 9"
    assert versions.check(context()).status == "skip"


@pytest.mark.parametrize(
    ("name", "folder", "fix"),
    [
        ("numpy", "environment/lib", None),
        ("numpy", "home", "export PYTHONNOUSERSITE=1"),
        ("theano", "checkout", "unset PYTHONPATH"),
        ("theano", "environment-2", REPAIR),
    ],
)
def test_a_framework_or_numpy_from_elsewhere_fails(
    name: str, folder: str, fix: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(tmp_path / "home"))
    monkeypatch.setattr(versions.sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "checkout"))
    path = tmp_path / folder / name / "__init__.py"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(__file__=str(path)))
    check = versions.check(context(expectation=expectation()))
    assert check.status == ("fail" if fix else "pass")
    if fix:
        detail = f"{name} comes from {tmp_path / folder}, not from this environment"
        assert check.detail == detail and check.fix.endswith(fix)


@pytest.mark.parametrize(
    ("name", "version", "status", "count"),
    [
        ("theano", "0.8.2", "pass", 16),
        ("theano", "1.1.2", "pass", 13),
        ("aesara", "2.9.3", "pass", 1),
        ("pytensor", "2.38.3", "pass", 13),
        # Of versions between those that were tried nothing is known.
        ("theano", "1.0.4", "skip", 0),
    ],
)
def test_wrong_results_of_a_version_are_named(
    name: str, version: str, status: str, count: int
) -> None:
    made = context({})
    made.framework.name, made.framework.version = name, version
    made.framework.amdlibm_flag = "lib.amdlibm"
    check = framework_faults.check(made)
    head, *lines = check.detail.splitlines()
    assert (check.status, len(lines)) == (status, count if count > 1 else 0)
    assert count < 2 or head == f"{count} of this version, and what to do instead"
    assert all(": " in line for line in lines)


def test_a_policy_of_types_with_which_sums_lose_terms_is_a_fault() -> None:
    for floatx, is_lost in (("float64", True), ("float32", False)):
        flags = {"cast_policy": "numpy+floatX", "floatX": floatx, "cxx": "g++"}
        made = context(flags, user_flags="cast_policy=numpy+floatX")
        fix = "remove cast_policy=numpy+floatX from THEANO_FLAGS" if is_lost else None
        assert framework_faults.check(made).fix == fix
        # What it makes wrong is a consequence.
        assert not is_lost or fixes.library_fix(made) == fix


PARTS = ("compiler", "ops", "scan", "cache", "replaced")
METHODS = {
    "gof.toolbox": ("ReplaceValidate", "replace_all_validate", "theano_stacks_replaced"),
    "tensor.subtensor": ("AdvancedSubtensor", "c_code", "theano_stacks_ops"),
}


class Accelerated:
    """The context of Theano with the accelerator, on stand-ins for both."""

    expectation = {"accelerator": ["theano-stacks"], "variant": "v", "framework": "f"}  # noqa: RUF012
    is_whole = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(framework_faults.QUICK_VARIABLE, raising=False)
        self.patch, self.found, self.hits = monkeypatch, {"hits": 0}, 1
        self.factors = iter([7.0, 7.0])
        self.framework = SimpleNamespace(
            version="0.8.2", variable=lambda *_: 1, function=self.compile
        )
        for part in PARTS:
            content = SimpleNamespace(found=self.found)
            monkeypatch.setitem(sys.modules, f"theano_stacks_{part}", content)
        for module, (_, _, defined_in) in METHODS.items():
            self.define(module, defined_in)
        self.set_nodes(framework_faults.NODES)
        self.operations: dict[tuple[str, str], Any] = {}

    def compile(self, *_: object, **__: object) -> Any:
        factor = next(self.factors)
        self.found["hits"] += self.hits
        return lambda values: SimpleNamespace(tolist=lambda: [factor * each for each in values])

    def define(self, module: str, defined_in: str) -> None:
        """Have a method of Theano be defined in another module."""
        name, method, _ = METHODS[module]
        owner = SimpleNamespace(**{method: SimpleNamespace(__module__=defined_in)})
        self.patch.setitem(sys.modules, f"theano.{module}", SimpleNamespace(**{name: owner}))

    def set_nodes(self, count: int) -> None:
        self.patch.setattr(framework_faults, "_gradient_nodes", lambda framework: count)


def without(part: str) -> Callable[[Accelerated], object]:
    return lambda accelerated: accelerated.patch.delitem(sys.modules, f"theano_stacks_{part}")


@pytest.mark.parametrize(
    ("damage", "detail"),
    [
        (lambda a: None, "graphs are stored; the gradient of a scan has 66 nodes"),
        *((without(part), f"not in force: theano_stacks_{part}") for part in PARTS),
        (lambda a: a.define("gof.toolbox", "theano"), "replaced scans may come back into the "),
        (lambda a: a.define("tensor.subtensor", "theano"), "indexing by arrays has no C code"),
        (lambda a: a.set_nodes(126), "the gradient of a scan has 126 nodes instead of 66"),
        (lambda a: setattr(a, "hits", 0), "a graph was not found again when it was compiled a "),
        (
            lambda a: setattr(a, "factors", iter([7.0, 6.0])),
            "wrong numbers from a stored graph: [0.0, 7.0, 14.0], then [0.0, 6.0, 12.0]",
        ),
    ],
)
def test_a_part_of_the_accelerator_that_does_not_act_is_named(
    damage: Callable[[Accelerated], object], detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(accelerated := Accelerated(monkeypatch))
    assert framework_faults.has_accelerator(accelerated)
    check = framework_faults.check_accelerator(accelerated)
    is_right = detail.startswith("graphs are stored")
    assert (check.status, check.fix) == (("pass", None) if is_right else ("fail", REPAIR))
    assert check.detail.startswith(detail)


def test_of_a_graph_that_cannot_be_compiled_the_fix_is_that_of_the_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accelerated = Accelerated(monkeypatch)
    accelerated.hits = 0
    fixes = None, "ulimit -n"
    accelerated.operations = {("Gemm", fix or ""): SimpleNamespace(fix=fix) for fix in fixes}
    assert framework_faults.check_accelerator(accelerated).fix == "ulimit -n"


@pytest.mark.parametrize(
    ("installer", "content", "problem"),
    [
        ("pip", None, "is missing"),
        ("conda", None, "is missing"),
        ("pip", b"abcd", "has 4 bytes in place of 3"),
        ("uv", b"abd", "has other bytes than were installed"),
        # It writes its own paths into libraries.
        ("conda", b"abcd", None),
        ("pip", b"abc", None),
    ],
)
def test_a_damaged_file_of_a_package(
    installer: str, content: bytes | None, problem: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "twice-1.2.dist-info"
    (folder / "INSTALLER").write_text(f"{installer}\n")
    line = "twice.so,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\n"
    (folder / "RECORD").write_text(line)
    if content is not None:
        (tmp_path / "twice.so").write_bytes(content)
    found = packages.lost(r"\.so,")
    assert found == (problem and ("twice", "1.2", "twice.so", problem))
