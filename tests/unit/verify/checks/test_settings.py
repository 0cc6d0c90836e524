"""Who has set a flag, and what to write where."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

settings = importlib.import_module("verify.checks.settings")
fix = importlib.import_module("verify.core.fixes")


def context(**more: object) -> SimpleNamespace:
    values = {"blas.ldflags": "", "cxx": "g++", "mode": "Mode", "linker": "cvm", "optimizer": "o4"}
    framework = SimpleNamespace(
        flags_variable="THEANO_FLAGS",
        rc_variable="THEANORC",
        rc_file="~/.theanorc",
        flag=values.get,
        spelled=str,
    )
    base: dict[str, object] = {"framework": framework, "expectation": None, "given_flags": ""}
    return SimpleNamespace(**{**base, **more})


def test_flags_are_split_as_the_frameworks_split_them() -> None:
    assert settings.flags_of("a=1,blas.ldflags='-lx -ly', blas__b=2,junk") == {
        "a": "1",
        "blas.ldflags": "-lx -ly",
        "blas.b": "2",
    }


def test_the_last_file_wins_and_flags_come_before_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    first.write_text("[blas]\nldflags = -la\n")
    last.write_text("# mine\n[blas]\nldflags: -lb\n")
    monkeypatch.setenv("THEANORC", f"{first}:{last}")
    assert settings.given(context(), "blas.ldflags") == (str(last), "-lb")
    named = context(given_flags="blas.ldflags=-lc")
    assert settings.given(named, "blas.ldflags") == ("THEANO_FLAGS", "-lc")
    assert settings.given(context(), "floatX") == (None, None)


def test_a_setting_that_nobody_makes_wants_the_environment_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    found = settings.check(context(expectation={"flags": {"blas.ldflags": "-lopenblas"}}))
    assert found.status == "fail"
    assert found.detail == "blas.ldflags is empty, not -lopenblas (nothing sets it)"
    assert "activate the environment" in found.fix


def test_a_diagnosis_finds_what_turns_compiled_code_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    slow = context(given_flags="mode=FAST_COMPILE")
    slow.framework.flag = {"mode": "FAST_COMPILE", "cxx": "g++"}.get
    found = settings.check(slow)
    assert found.status == "fail"
    assert found.fix == "take mode=FAST_COMPILE out of THEANO_FLAGS"


def test_a_library_in_the_prefix_is_linked_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib"
    library.mkdir()
    (library / "libopenblas.so.0").touch()
    monkeypatch.setattr(fix.sys, "prefix", str(tmp_path))
    assert fix.linkable() == f"-L{library} -l:libopenblas.so.0 -Wl,-rpath,{library}"


def test_without_any_library_the_fix_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fix.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(fix, "system_libraries", lambda: ["libm.so.6"])
    monkeypatch.delenv("THEANORC", raising=False)
    said = fix.ldflags_fix(context())
    assert "libopenblas-dev" in said
    assert said.endswith("put these lines into ~/.theanorc:\n[blas]\nldflags = -lopenblas")


def test_the_telling_line_of_a_compilers_message_is_shown() -> None:
    error = ImportError("Compilation failed:\nld: cannot find -lopenblas\ncollect2: exit 1\n")
    assert fix.explain(error) == "ImportError: ld: cannot find -lopenblas"


@pytest.mark.parametrize(
    ("given", "asked", "status"),
    [
        ("", "opencl0:0", "pass"),
        ("device=opencl0:1", "opencl0:1", "pass"),
        ("device=cpu", "opencl0:0", "fail"),
        ("device=cuda", "opencl0:0", "fail"),
    ],
)
def test_another_device_of_the_kind_is_the_persons_choice_and_none_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, given: str, asked: str, status: str
) -> None:
    monkeypatch.setenv("THEANORC", "")
    expectation = {"flags": {"device": "opencl0:0"}}
    made = context(expectation=expectation, given_flags=given, asked_device=asked)
    assert settings.check(made).status == status
