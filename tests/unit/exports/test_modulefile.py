from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.exports import modulefile
from unit.exports.conftest import NASTY, MakeSubject

# Prints the words of the commands of a module file, as Tcl reads them.
TCL = """
foreach name {module-whatis prepend-path setenv unsetenv} {
    proc $name {args} "puts \\[join \\[linsert \\$args 0 $name\\] |\\]"
}
source [lindex $argv 0]
"""


def test_the_environment_of_build(subject: MakeSubject) -> None:
    [(name, text)] = modulefile.export(subject("mkl")).files.items()
    place = "/checkout/build/prefixes/theano-1.0.5/mkl"
    assert name == "theano-1.0.5-mkl"
    assert text.splitlines()[0] == "#%Module1.0"
    assert text.splitlines()[2:] == [
        f'prepend-path PATH "{place}/bin"',
        "unsetenv PYTHONHOME",
        "unsetenv PYTHONPLATLIBDIR",
        "unsetenv PYTHONEXECUTABLE",
        f'setenv CONDA_PREFIX "{place}"',
        'setenv PYTHONNOUSERSITE "1"',
    ]


@pytest.mark.skipif(not shutil.which("tclsh"), reason="needs tclsh")
def test_nasty_values_are_words_of_tcl(subject: MakeSubject, tmp_path: Path) -> None:
    mkl = replace(subject("mkl", summary=NASTY), environment=Path("/a b/$x [id] {\"'`"))
    [text] = modulefile.export(mkl).files.values()
    (tmp_path / "file").write_text(text, encoding="utf-8")
    (tmp_path / "read.tcl").write_text(TCL)
    words = ["tclsh", "-encoding", "utf-8", "read.tcl", "file"]
    out = subprocess.check_output(words, cwd=tmp_path, text=True, env={"LC_ALL": "C.UTF-8"})
    assert out.splitlines() == [
        f"module-whatis|{mkl.summary}",
        f"prepend-path|PATH|{mkl.environment}/bin",
        "unsetenv|PYTHONHOME",
        "unsetenv|PYTHONPLATLIBDIR",
        "unsetenv|PYTHONEXECUTABLE",
        f"setenv|CONDA_PREFIX|{mkl.environment}",
        "setenv|PYTHONNOUSERSITE|1",
    ]
