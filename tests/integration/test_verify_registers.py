"""Code that leaves the vector registers in use fails, and for that reason."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.checking import checked
from stacks.core.disk import REPOSITORY

Prefix = Callable[[str, str], Path]

FLAVOURS = [
    # Without a BLAS Theano 1.0.5 cannot compile its BatchedDot, in either precision.
    ("theano-1.0.5", "pip-default", 16),
    ("theano-1.0.5", "mkl-amdlibm", 18),
    ("theano-1.0.5", "blis", 18),
    ("pytensor-3.3.7", "openblas", 18),
]


@pytest.mark.parametrize(("framework", "flavour", "count"), FLAVOURS)
def test_operations_that_free_them(
    prefix: Prefix, framework: str, flavour: str, count: int
) -> None:
    (found,) = checked(prefix(framework, flavour), "registers")
    assert found.status == "pass"
    assert found.detail == f"free after each of {count} operations"


def test_loops_compiled_without_vzeroupper(prefix: Prefix) -> None:
    (found,) = checked(
        prefix("theano-1.0.5", "openblas"), "registers", THEANO_FLAGS="gcc.cxxflags=-mno-vzeroupper"
    )
    assert found.status == "fail"
    assert found.detail.startswith("still in use after ")
    assert "sqr" in found.detail and "later SSE instructions" in found.detail
    assert found.fix == "remove gcc.cxxflags=-mno-vzeroupper from THEANO_FLAGS"


def test_the_program_for_processors_on_which_glibc_frees_them(
    prefix: Prefix, tmp_path: Path
) -> None:
    done = subprocess.run(
        [
            prefix("theano-1.0.5", "openblas") / "bin/python",
            *(REPOSITORY / "verify", "registers-probe", "theano", tmp_path),
        ],
        env={
            **os.environ,
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=Prefer_No_VZEROUPPER",
            "THEANO_FLAGS": f"gcc.cxxflags=-mno-vzeroupper,base_compiledir={tmp_path}/compiled",
        },
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["count"] == 18 and "sqr" in found["unclean"]
