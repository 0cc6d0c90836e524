"""What makes the first step come sooner, on real Theano: same graphs and values, and in use."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DRIVER = Path(__file__).with_name("first_step_driver.py")
Prefix = Callable[[str, str], Path]
# Compiles two functions, then says by which options their modules were compiled.
COMPILING = """
import json, sys
import numpy, theano, theano.tensor as T
from theano.gof import cmodule
import theano_stacks_compiler as compiler

x = T.vector("x")
values = [float(theano.function([x], T.sum(y))(numpy.ones(3))) for y in (x + 2, x * x * 3, x / 4)]
(options, words), = compiler.HEADERS_OF.known.items()
folders = list(options[1]) + cmodule.std_include_dirs()
print(json.dumps({"values": values, "words": options[0] + tuple(words), "folders": folders}))
"""


def run(
    place: Path, folder: Path, *words: str | Path, flags: str = "cxx=", **variables: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [place / "bin/python", *words],
        env={
            **os.environ,
            "THEANO_FLAGS": f"base_compiledir={folder},{flags}",
            "OPENBLAS_NUM_THREADS": "1",
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def driven(place: Path, folder: Path, how: str, **variables: str) -> dict[str, Any]:
    done = run(place, folder, DRIVER, how, **variables)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "said": done.stderr}


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_a_graph_that_was_kept_is_the_one_that_theano_makes(
    prefix: Prefix, tmp_path: Path, framework: str
) -> None:
    place = prefix(framework, "openblas")
    plain = driven(place, tmp_path, "as it is", THEANO_STACKS_QUICK="0")
    first, second = (driven(place, tmp_path, "kept") for _ in range(2))
    count = first["found"]["kept"]
    assert count >= 5 and first["found"] == {"hits": 0, "kept": count, "not kept": 0}
    assert second["found"] == {"hits": count, "kept": 0, "not kept": 0}
    for found in (first, second):
        assert found["values"] == plain["values"]
        assert found["graphs"] == plain["graphs"]


def test_what_was_kept_of_another_program_or_is_not_whole_is_not_used(
    prefix: Prefix, tmp_path: Path
) -> None:
    place = prefix("theano-1.0.5", "openblas")
    first = driven(place, tmp_path, "kept")
    for stored in tmp_path.rglob("theano_stacks_graphs/*.pkl"):
        content = stored.read_bytes()
        stored.write_bytes(content[: len(content) // 2])
    torn = driven(place, tmp_path, "kept")
    assert torn["found"] == first["found"] and torn["values"] == first["values"]
    assert "the file is damaged" in torn["said"]
    other = driven(place, tmp_path, "kept", CONSTANT="0.25")
    assert other["values"][:2] != first["values"][:2]
    assert other["values"] == driven(place, tmp_path, "as it is", CONSTANT="0.25")["values"]
    # The constant is in the first graph, in that of its scan, and in the second.
    assert other["found"] == {"hits": first["found"]["kept"] - 3, "kept": 3, "not kept": 0}


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_the_precompiled_header_is_what_the_compiler_reads(
    prefix: Prefix, tmp_path: Path, framework: str
) -> None:
    place = prefix(framework, "openblas")
    done = run(place, tmp_path, "-c", COMPILING, flags="floatX=float64")
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["values"] == [9.0, 9.0, 0.75]
    header = found["words"][-1]
    assert Path(header + ".gch").is_file()
    source = tmp_path / "empty.cpp"
    source.write_text("")
    words = [*found["words"], *(f"-I{folder}" for folder in found["folders"] if folder)]
    command = [place / "bin/g++", "-g", "-fvisibility=hidden", *words, "-H", "-Winvalid-pch"]
    headers = subprocess.run(
        [*command, "-fsyntax-only", source], capture_output=True, text=True, check=True
    ).stderr
    assert f"! {header}.gch" in headers
    refused = subprocess.run(
        [*command, "-O0", "-mno-sse3", "-fsyntax-only", source],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert f"! {header}.gch" not in refused, "another machine's header must not be taken"


def test_theano_can_be_left_as_it_is(prefix: Prefix, tmp_path: Path) -> None:
    code = "import sys, theano; print('theano_stacks_compiler' in sys.modules)"
    for flavour, value, fixed in (
        ("openblas", "1", "True"),
        ("openblas", "0", "False"),
        ("pip-default", "1", "False"),
    ):
        place = prefix("theano-1.0.5", flavour)
        done = run(place, tmp_path, "-c", code, THEANO_STACKS_QUICK=value)
        assert done.stdout.strip() == fixed
