"""The page of the YAML files."""

from __future__ import annotations

from stacks.project import file_reference


def test_keys_of_each_file() -> None:
    text = file_reference.document()
    for line in (
        "## stack.yaml",
        "| `framework` | text | required | which Theano on which Python |",
        "## envs/blas/NAME.yaml",
        "| `libm` | `glibc` or `amdlibm` | `glibc` | what computes exp, log and the like over "
        "arrays |",
        "| `baseline` | `true` or `false` | `false` | the slow path is expected: ratios are "
        "relative to this one |",
        "| `conda_forge` | [CondaForge](#condaforge) |  | the differences of another channel's "
        "packages |",
        "### CondaForge",
        "| `ldflags` | text | required | the framework's blas.ldflags there |",
    ):
        assert line in text.splitlines()
