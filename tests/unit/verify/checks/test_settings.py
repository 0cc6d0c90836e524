"""What sets a flag, and how to undo it."""

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import context

settings = importlib.import_module("verify.checks.settings")


def test_a_setting_without_a_source_needs_the_environment_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    expectation = {"variant": "v", "framework": "f", "flags": {"blas.ldflags": "-lopenblas"}}
    check = settings.check(context(expectation=expectation))
    assert check.status == "fail"
    assert check.detail == "blas.ldflags is empty, not -lopenblas (nothing sets it)"
    assert check.fix == "put the files back:\n./invoke build --variant v --framework f --repair"


def test_a_flag_that_the_framework_does_not_have_is_to_be_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line is in the environment's own file: a repair would change nothing."""
    settings_file = tmp_path / "etc/theanorc"
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    settings_file.write_text("[global]\non_unused_imput = warn\n")
    monkeypatch.setenv("THEANORC", str(settings_file))
    made = context(expectation={"flags": {"on_unused_imput": "warn"}})
    made.framework.flag = {"cxx": "g++"}.get
    check = settings.check(made)
    assert (check.status, check.detail) == ("fail", "theano 1.0.5 has no flag on_unused_imput")
    fix = "correct on_unused_imput below `flags:` in the variant's file, then lock and build it"
    assert check.fix == fix


@pytest.mark.parametrize("expectation", [None, {"flags": {"cxx": "g++"}}])
@pytest.mark.parametrize(
    ("flag", "value"),
    [("mode", "FAST_COMPILE"), ("optimizer", "merge"), ("cmodule.remove_gxx_opt", "True")],
)
def test_a_flag_that_turns_compiled_code_off_fails(
    flag: str,
    value: str,
    expectation: dict[str, dict[str, str]] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a diagnosis, and in an environment whose own settings are in force."""
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    slow = context(user_flags=f"{flag}={value}", expectation=expectation)
    slow.framework.flag = {flag: value, "cxx": "g++"}.get
    check = settings.check(slow)
    assert check.status == "fail"
    assert check.detail == f"{flag}={value} turns off compiled code or optimisation"
    assert check.fix == f"remove {flag}={value} from THEANO_FLAGS"


@pytest.mark.parametrize(
    ("options", "level"), [("-O0 -g", "-O0"), ("-O3 -Og", "-Og"), ("-O0 -O2", None), ("-g", None)]
)
def test_an_option_that_turns_off_the_optimisation_of_loops_fails(
    options: str, level: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    made = context(user_flags=f"gcc.cxxflags='{options}'")
    made.framework.flag = {"gcc.cxxflags": options, "cxx": "g++"}.get
    check = settings.check(made)
    assert check.status == ("fail" if level else "pass")
    if level:
        assert check.detail == f"gcc.cxxflags has {level}, by which g++ leaves loops as they are"
        assert "gcc.cxxflags" in check.fix


def test_a_linker_that_the_framework_takes_without_a_compiler_is_no_fault_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", str(tmp_path / "none"))
    slow = context(
        user_flags="cxx=", expectation={"variant": "v", "framework": "f", "flags": {"cxx": "g++"}}
    )
    slow.framework.flag = {"linker": "py", "cxx": ""}.get
    check = settings.check(slow)
    assert check.detail == "cxx is empty, not g++ (THEANO_FLAGS)"


def test_a_setting_of_a_configuration_file_is_removed_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "theanorc"
    monkeypatch.setenv("THEANORC", str(path))
    slow = context()
    slow.framework.flag = {"optimizer": None, "mode": "Mode", "linker": "py", "cxx": ""}.get
    monkeypatch.setenv("PATH", str(tmp_path))
    path.write_text("[global]\nlinker = py\n")
    check = settings.check(slow)
    assert check.detail == (
        "linker=py turns off compiled code or optimisation; cxx is empty: nothing can be compiled"
    )
    assert check.fix.startswith(f"remove from {path}:\n[global]\nlinker = py\ninstall a C++")


def test_spaces_and_the_case_of_truth_values_do_not_matter() -> None:
    flags = {"cxx": "  g++ ", "mode": "Mode"}
    assert settings.check(context(expectation={"flags": flags})).detail == "2 in force"


@pytest.mark.parametrize(
    ("user_flags", "requested", "status"),
    [
        ("", "opencl0:0", "pass"),
        ("device=opencl0:1", "opencl0:1", "pass"),
        ("device=cpu", "opencl0:0", "fail"),
        ("device=cuda", "opencl0:0", "fail"),
    ],
)
def test_another_device_of_the_same_kind_passes_and_none_fails(
    monkeypatch: pytest.MonkeyPatch, user_flags: str, requested: str, status: str
) -> None:
    monkeypatch.setenv("THEANORC", "")
    expectation = {"flags": {"device": "opencl0:0"}}
    made = context(expectation=expectation, user_flags=user_flags, requested_device=requested)
    assert settings.check(made).status == status


def test_the_folder_of_compiled_modules_is_the_users_choice() -> None:
    expectation = {"flags": {"base_compiledir": "/environment", "mode": "Mode"}}
    made = context(expectation=expectation, user_flags="base_compiledir=/mine")
    made.framework.flag = {"base_compiledir": "/mine", "cxx": "g++", "mode": "Mode"}.get
    check = settings.check(made)
    assert (check.status, check.detail) == ("pass", "1 in force")


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the function that returns a context with flags whose programs print texts in turn."""
    for name in ("PYTHONMALLOC", "PYTHONDEVMODE", "PYTHONTRACEMALLOC", "NUMBA_DISABLE_JIT"):
        monkeypatch.delenv(name, raising=False)

    def made(flags: dict[str, object], *printed: str) -> Any:
        where = context(advice=[], folder="/tmp")
        where.framework.flag = flags.get
        outputs = iter(printed)

        def call(*_: object) -> object:
            return SimpleNamespace(output=next(outputs))

        monkeypatch.setattr(settings.process, "call", call)
        return where

    return made


@pytest.mark.parametrize(
    ("seconds", "times"), [("0.165", "165"), ("2.7349", "2735"), ("0.0016", "1.6")]
)
def test_a_slow_setting_is_a_warning_with_the_measured_ratio(
    seconds: str, times: str, costly: Any
) -> None:
    where = costly({"floatX": "float16"}, seconds, "0.001")
    sentence = f"floatX=float16: a small function takes {times} times as long as without it"
    assert settings.check_cost(where)[1:3] == ("pass", sentence)
    assert where.advice == [sentence]


def test_without_a_slow_setting_nothing_is_timed(costly: Any) -> None:
    where = costly({"floatX": "float32"})
    assert settings.check_cost(where).detail == settings.NOT_SLOW
    assert where.advice == []


def test_a_variable_of_numba_counts_where_programs_run_numba(
    costly: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    where = costly({})
    assert settings.slow_settings(where) == {}
    where.framework.runs_numba = True
    assert settings.slow_settings(where) == {"NUMBA_DISABLE_JIT": "1"}


@pytest.mark.parametrize(
    ("printed", "detail", "is_advice"),
    [
        (
            '"never ends its own"',
            "openmp=True: a forked process never ends its own loops; before you use "
            "multiprocessing, remove openmp=True from THEANO_FLAGS",
            True,
        ),
        ('""', "openmp=True: a forked process ends", False),
        ("no JSON", "openmp=True: a forked process was not tried", False),
    ],
)
def test_a_fork_with_openmp_that_never_ends_is_a_warning(
    printed: str, detail: str, is_advice: bool, costly: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEANORC", "")
    where = costly({"openmp": True}, printed)
    where.user_flags = "openmp=True"
    assert settings.check_cost(where).detail == detail
    assert where.advice == [detail] * is_advice
