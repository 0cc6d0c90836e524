"""Reports of devices and figures of samplers: which are taken, and what is shown of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import StaleError, UsageError
from stacks.timings import command, documents
from stacks.timings.beside import REPORTS, SAMPLERS, SAMPLINGS
from stacks.timings.survey import view
from stacks.timings.view import CurrentLock
from unit.helpers.publishing import Reader, at, keep, site, timings


def timing(name: str, median: float, unit: str = "GFLOP/s") -> dict[str, Any]:
    return {"name": name, "median": median, "unit": unit, "samples": [median]}


REPORT: dict[str, Any] = {
    "ok": True,
    "schema": 2,
    "variant": "gpuarray-cuda",
    "framework": {"name": "theano-1.0.5", "module": "theano"},
    "packages": [{"name": "numpy", "version": "1.22.4", "sha256": "b" * 64}],
    "machine": {"cpu": "Here", "cores": 2, "peak": []},
    "device": {
        "name": "NVIDIA H100 | 80GB, compute capability 9.0",
        "driver": "CUDA 13.0",
        "peaks": {"float32": 60000.0},
    },
    "checks": [
        {"name": "device", "status": "pass", "detail": "a path", "fix": None},
        {"name": "device: left on the host", "status": "skip", "detail": "a path", "fix": None},
    ],
    "timings": [
        timing("import", 1.0, "s"),
        timing("device Gemm ", 1.0),
        timing("device Gemm float32 x", 1.0),
        timing("device Gemm float32 10000", 48000.0),
        timing("device BLAS alone float32 10000", 50000.0),
        timing("device Gemm float32 2000", 1.0),
        timing("device BLAS alone float32 2000", 1.0),
        timing("device Gemm float32 2000", 30000.0),
        timing("device BLAS alone float32 2000", 40000.0),
        timing("device Gemm float64 2000", 20000.0),
        timing("device BLAS alone float64 2000", 20000.0),
        timing("optimiser fast_run, GraphToGPU", 0.5, "s"),
        timing("optimiser fast_run, local", 1.0, "s"),
        timing("optimiser fast_run, all", 3.0, "s"),
    ],
}


def written(path: Path, **more: Any) -> Path:
    path.write_text(json.dumps({**REPORT, **more}))
    return path


def test_a_report_is_kept_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(tmp_path)
    command.add(at(tmp_path), [written(tmp_path / "gpu.json")])
    command.publish(at(tmp_path))
    assert (
        "NVIDIA H100 \\| 80GB, compute capability 9.0, theano-1.0.5/gpuarray-cuda: 1 check "
        "passed, skipped: device: left on the host. 3 products at 20,000 to 48,000 GFLOP/s, at "
        "least 75% of the device's BLAS alone.\n"
    ) in timings(tmp_path)
    text = " ".join(Reader(site(tmp_path)).text.split())
    for row in ("30,00040,0000.7550%", "48,00050,0000.9680%", "20,00020,0001.00"):
        assert row in text
    assert "fast_run: moving the graph to the device takes 0.50 s of processor time with" in text
    command.check(at(tmp_path))
    [kept] = (tmp_path / "results/devices").iterdir()
    assert kept.name == "nvidia-h100-80gb-theano-1.0.5-gpuarray-cuda.json"
    assert "a path" not in kept.read_text()
    # What is no report is named and left out.
    (kept.parent / "cut-off.json").write_text("{")
    (kept.parent / "link.json").symlink_to(tmp_path / "gpu.json")
    capsys.readouterr()
    with pytest.raises(UsageError, match="published without 2 of 3 results"):
        command.publish(at(tmp_path))
    output = capsys.readouterr().err
    assert "cut-off.json: not a report" in output and "link.json is a symbolic link" in output
    assert "NVIDIA H100" in timings(tmp_path)
    kept.unlink()
    with pytest.raises(StaleError, match=r"timings\.md"):
        command.check(at(tmp_path))


def test_samplers_stand_beside_the_frameworks_and_a_damaged_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(tmp_path)
    figures = {"name": "nutpie | numba", "first": 15.21, "second": 12.6, "draw": 2.04e-5}
    about = {"program": "PyMC 6", "environment": "f/v", "cpu": "Here", "date": "2026-11-28"}
    path = tmp_path / "results" / SAMPLERS.pattern
    path.write_text(json.dumps({**about, "samplers": [figures]}))
    command.publish(at(tmp_path))
    assert (
        "Samplers of PyMC 6, f/v, Here, 2026-11-28:\n\n"
        "| sampler | first draw | second start | one draw |\n|---|---|---|---|\n"
        "| nutpie \\| numba | 15.2&nbsp;s | 12.6&nbsp;s | 0.020&nbsp;ms |\n"
    ) in timings(tmp_path)
    assert "nutpie | numba15.2 s12.6 s0.020 ms" in Reader(site(tmp_path)).text
    path.write_text(json.dumps({**about, "samplers": [{**figures, "draw": -1}]}))
    with pytest.raises(UsageError, match="published without 1 of 2 results"):
        command.publish(at(tmp_path))
    assert "samplers.json: not the figures of samplers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pip", "shown"),
    [
        ((8.0, 9.0, 10.0, 9.0, 9.0), "**4.50 (4.00-5.00)**"),
        ((None, 9.0, None, None, 10.0), "**over 30.00 (over 4.50)**"),
        ((2.1, 1.9, 2.0, 2.0, 2.0), "1.00 (0.95-1.05)"),
    ],
)
def test_chains_of_pymc_are_compared_round_by_round(
    tmp_path: Path, pip: tuple[float | None, ...], shown: str
) -> None:
    keep(tmp_path)
    program = {"name": "PyMC 6", "framework": "theano-1.0.5", "library": "a" * 64, "pip": pip}
    program |= {"chosen": [2.0] * 5, "one": [2.0] * 5}
    about = {"model": "a model", "chains": 2, "draws": 60, "limit": 60, "cpu": "Here", "cores": 2}
    path = tmp_path / "results" / SAMPLINGS.pattern
    path.write_text(json.dumps({**about, "date": "2026-11-28", "programs": [program]}))
    command.publish(at(tmp_path))
    row = "| [a model in PyMC](guides/pymc.md) | `openblas` | "
    assert f"{row}{shown} |" in timings(tmp_path)
    assert "stopped after 60 s" in timings(tmp_path)
    assert shown.replace("*", "").replace(" (", "(") in Reader(site(tmp_path)).text
    [found], _ = SAMPLINGS.read_all(at(tmp_path))
    for digest, is_older in (("a" * 64, False), ("b" * 64, True)):
        lock = CurrentLock("c" * 64, 1, frozenset({("blas-threads", digest)}))
        assert view([], {"theano-1.0.5/openblas": lock}).is_older(found) == is_older


def test_a_report_of_other_packages_than_the_locks_is_marked(tmp_path: Path) -> None:
    one = REPORTS.read(written(tmp_path / "gpu.json"))
    locks = {"b" * 64: False, "c" * 64: True}
    for sha256, is_older in locks.items():
        lock = CurrentLock("a" * 64, 1, frozenset({("numpy", sha256)}))
        text = documents.markdown(view([], {one.id: lock}, [one]))
        assert ("gpuarray-cuda&Dagger;:" in text) == is_older


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"ok": False}, "not a report of a device\n +found: +its verification failed"),
        ({"timings": [timing("device Gemm float32 1000", -1.0)]}, "not a report of a device"),
        # Without a device it is taken for a result.
        ({"device": None}, "bad.json: not a result"),
        (["checks"], "bad.json: not a result"),
    ],
)
def test_other_reports_are_not_taken(tmp_path: Path, content: Any, message: str) -> None:
    good, bad = written(tmp_path / "gpu.json"), tmp_path / "bad.json"
    bad.write_text(json.dumps({**REPORT, **content} if isinstance(content, dict) else content))
    with pytest.raises(UsageError, match=rf"{message}(.|\n)*nothing was taken"):
        command.add(at(tmp_path), [good, bad])
    assert not (tmp_path / "results").exists()
