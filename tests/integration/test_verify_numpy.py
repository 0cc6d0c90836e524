"""A Python that has NumPy and no framework: the suite diagnoses NumPy's own BLAS."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import Prefix
from integration.programs import run
from stacks.core.disk import REPOSITORY


@pytest.fixture
def report(prefix: Prefix, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Give the function that verifies an environment's NumPy, without what else it has."""

    def verified(framework: str, flavour: str, **variables: str) -> tuple[int, dict[str, Any]]:
        place = prefix(framework, flavour)
        [numpy] = place.glob("lib/python*/site-packages/numpy")
        for path in (numpy, *numpy.parent.glob("numpy.libs")):
            (tmp_path / path.name).symlink_to(path)
        # Without `site`, the environment's other packages are not there.
        words = ("-S", REPOSITORY / "verify", "--json", tmp_path / "report.json")
        done = run(place, *words, PYTHONPATH=str(tmp_path), **variables)
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads((tmp_path / "report.json").read_text())

    return verified


@pytest.mark.parametrize(
    ("framework", "flavour"),
    [
        # On Python 2.7. The library in its NumPy's own wheel does not know today's processors.
        ("theano-0.8.2", "openblas"),
        ("theano-1.0.5", "openblas"),
        ("pytensor-3.3.7", "pip-default"),
    ],
)
def test_numpy_alone(
    report: Callable[..., tuple[int, dict[str, Any]]], framework: str, flavour: str
) -> None:
    status, content = report(framework, flavour)
    schema = json.loads((REPOSITORY / "verify/report.schema.json").read_text())
    importlib.import_module("jsonschema").validate(content, schema)
    checks = {check["name"]: check for check in content["checks"]}
    assert (status, content["framework"]["module"]) == (0, "numpy"), content
    assert checks["serving library"]["detail"].startswith("openblas ")
    assert {"threads", "kernels", "Gemm float64 speed", "Gemm float32 speed"} < set(checks)
    assert {"import", "peak float64, 1 thread"} < {item["name"] for item in content["timings"]}


def test_slow_kernels_of_numpy_s_library(report: Callable[..., tuple[int, dict[str, Any]]]) -> None:
    # NumPy's library crashes with older kernels, such as Prescott's, on Zen 4.
    status, content = report("pytensor-3.3.7", "pip-default", OPENBLAS_CORETYPE="Nehalem")
    checks = {check["name"]: check for check in content["checks"]}
    assert (status, checks["kernels"]["status"]) == (1, "fail")
    fix = "OPENBLAS_CORETYPE=Nehalem selects these kernels:\nunset OPENBLAS_CORETYPE"
    assert checks["kernels"]["fix"] == fix
