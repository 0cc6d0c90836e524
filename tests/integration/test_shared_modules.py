"""Compiled modules that environments share, on real Theano: reused, identical, or left out."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from integration.conftest import Prefix
from integration.programs import printed
from integration.tiny import share_packages
from stacks.channel.candidates import read_channel
from stacks.core.workspace import Workspace
from stacks.environments.folders import MODULES
from stacks.environments.make import build as pipeline
from stacks.variants.load import load_variant

DRIVER = Path(__file__).with_name("modules_driver.py")
FRAMEWORKS = ("theano-1.0.5", "theano-0.8.2")


class Starts:
    """Starts of the driver, each with nothing in its compile folder."""

    def __init__(self, room: Path) -> None:
        self.room, self.count = room, 0

    def begin(self, place: Path, modules: Path | str | None) -> subprocess.Popen[str]:
        """Start it with a folder for modules that are shared; None: with the environment's own."""
        self.count += 1
        flags = f"base_compiledir={self.room / f'compiled {self.count}'},floatX=float64"
        env = {**os.environ, "THEANO_FLAGS": flags, "OMP_NUM_THREADS": "1"}
        env["THEANO_STACKS_MODULES"] = str(modules)
        if modules is None:
            del env["THEANO_STACKS_MODULES"]
        pipe = subprocess.PIPE
        command = [place / "bin/python", DRIVER]
        return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)

    def end(self, job: subprocess.Popen[str]) -> dict[str, Any]:
        out, log = job.communicate(timeout=600)
        assert job.returncode == 0, log
        return {**json.loads(out.splitlines()[-1]), "log": log}

    def of(self, place: Path, modules: Path | str | None) -> dict[str, Any]:
        return self.end(self.begin(place, modules))


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path)


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    return tmp_path / "modules"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_another_variant_compiles_only_what_differs_and_shares_identical_modules(
    prefix: Prefix, starts: Starts, modules: Path, framework: str
) -> None:
    first = starts.of(prefix(framework, "openblas"), modules)
    count = first["found"]["kept"]
    assert count >= 5 and first["found"] == {"hits": 0, "kept": count, "not kept": 0}
    again = starts.of(prefix(framework, "openblas"), modules)
    assert again["found"] == {"hits": count, "kept": 0, "not kept": 0}
    assert (again["values"], again["modules"]) == (first["values"], first["modules"])
    other = starts.of(prefix(framework, "blis"), modules)
    # The command names the library for those that may call BLAS; what they call is in front of it.
    compiled = other["found"]["kept"]
    assert 1 <= compiled < count
    assert other["found"] == {"hits": count - compiled, "kept": compiled, "not kept": 0}
    assert first["blas"] and first["modules"] == other["modules"]
    for left, right in zip(other["values"], first["values"], strict=True):
        assert left == [pytest.approx(row, rel=1e-12) for row in right]
    alone = starts.of(prefix(framework, "blis"), modules.with_name("empty"))
    assert not alone["found"]["hits"]
    assert (alone["values"], alone["modules"]) == (other["values"], other["modules"])


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_modules_are_shared_in_a_cache_at_any_path(
    workspace: Workspace, prefix: Prefix, starts: Starts, tmp_path: Path, framework: str
) -> None:
    own = replace(workspace, cache=tmp_path / "a cache, é")
    folder = own.cache / MODULES
    variant, channel = load_variant(workspace, "openblas", framework), read_channel(workspace)
    share_packages(workspace, channel, variant, own.cache)
    place = pipeline.make_environment(own, variant, tmp_path / "é, $1 #" / "prefix")
    first = starts.of(place, None)
    assert len(list(folder.iterdir())) == first["found"]["kept"] >= 5
    other = starts.of(prefix(framework, "openblas"), folder)
    assert other["found"] == {"hits": first["found"]["kept"], "kept": 0, "not kept": 0}
    assert (other["values"], other["modules"]) == (first["values"], first["modules"])


def test_concurrent_programs(prefix: Prefix, starts: Starts, modules: Path) -> None:
    place = prefix("theano-1.0.5", "openblas")
    jobs = [starts.begin(place, modules) for _ in range(2)]
    one, other = (starts.end(job) for job in jobs)
    assert (one["values"], one["modules"]) == (other["values"], other["modules"])
    assert not one["log"] and not other["log"]
    assert len(list(modules.iterdir())) == sum(starts.of(place, modules)["found"].values())


def test_measurements_share_modules_only_on_request(
    prefix: Prefix, modules: Path, tmp_path: Path
) -> None:
    place = prefix("theano-1.0.5", "openblas")
    program = DRIVER.parents[2] / "verify"
    counts = []
    share: list[str | Path] = ["--share-modules", modules]
    report = tmp_path / "report.json"
    for number, words in enumerate(([], share, share)):
        words = [*words, "--small", "--calls", "1", "--profile-calls", "0", "--quiet"]
        words += ["--json", report, "--compile-folder", tmp_path / str(number)]
        words = [program, "workload", "logreg", *words]
        printed(place, *words, THEANO_STACKS_MODULES=str(tmp_path / "default"))
        counts.append(json.loads(report.read_text())["cases"][0]["compile"]["shared"])
    assert counts[:2] == [0, 0] and counts[2] > 5
    assert not (tmp_path / "default").exists()
