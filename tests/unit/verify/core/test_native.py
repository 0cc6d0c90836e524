"""C code that the suite compiles for itself."""

import importlib
import shutil
from pathlib import Path

import pytest

native = importlib.import_module("verify.core.native")


def test_a_source_is_compiled_and_loaded(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    source = tmp_path / "seven.c"
    source.write_text('extern "C" int seven(void) { return SEVEN; }\n')
    assert native.load("g++ -DSEVEN=7", str(source), str(tmp_path)).seven() == 7


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
        native.load(compiler, "x.c", str(tmp_path))
    assert str(caught.value) == reason
