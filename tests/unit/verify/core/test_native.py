"""C code that the suite compiles for itself."""

import importlib
import shutil
from pathlib import Path

import pytest

native = importlib.import_module("verify.core.process")


def test_a_source_is_compiled_and_loaded(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    folder = str(tmp_path)
    library = native.load_c("g++", "verify.elementwise", "registers.c", folder)
    assert library.upper_halves_in_use() in (-1, 0, 1)


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ("", "the framework has no C++ compiler"),
        ("no-such-compiler -O2", "no-such-compiler: No such file or directory"),
        ("false", "the compiler failed"),
        ("sh -c 'echo first; echo last; false'", "last"),
    ],
)
def test_the_reason_why_it_cannot_be_compiled(compiler: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(native.NoCompilerError) as caught:
        native.load_c(compiler, "verify.blas", "peak.c", str(tmp_path))
    assert str(caught.value) == reason


def test_flags_that_link_give_no_message(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    assert native.link("g++", "-lm -Wl,-rpath,'/a folder'", str(tmp_path)) is None


@pytest.mark.parametrize("flags", ["-lnothere", "-lm -lnothere", "-lnothere -lm", "-L. -lnothere"])
def test_flags_that_do_not_link_give_the_linkers_message(flags: str, tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    message = native.link("g++", flags, str(tmp_path))
    assert message is not None and "cannot find -lnothere" in message


def test_unbalanced_quotes_are_named(tmp_path: Path) -> None:
    assert native.link("g++", "-L'/x -lm", str(tmp_path)) == "No closing quotation"
