"""What sets a flag, and how to undo it; what scan's own process finds."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.verification import REPAIR, context
from verify.checks import scan, settings
from verify.context import Context

LOCKED = {"variant": "v", "framework": "f"}
REMOVE = "remove %s from THEANO_FLAGS"
LEVEL = "gcc.cxxflags has %s, by which g++ leaves loops as they are"
UNKNOWN = "correct on_unused_imput below `flags:` in the variant's file, then lock and build it"
ON = "no setting turns compiled code off"


NO_LD = "blas.ldflags is empty, not -la (nothing sets it)"
NO_CXX = "cxx is empty, not g++ (THEANO_FLAGS)"
FILE_OFF = "linker=py runs no C code; cxx is empty: nothing can be compiled"
FILE_FIX = "remove from FILE:\n[global]\nlinker = py\ninstall a C++"
OWN_FILE = "# own: a repair would change nothing\n[global]\non_unused_imput = 1\n"
NO_FLAG = "theano 1.0.5 has no flag on_unused_imput"
GXX, CXXFLAGS = {"cxx": "g++"}, "remove gcc.cxxflags from THEANO_FLAGS, then "
MINE = {"base_compiledir": "/mine", "mode": "Mode"}
THEIRS = {**MINE, "base_compiledir": "/e"}


# flags: the framework's; user_flags: the variable, for which "" is None of them; file: the one that
# THEANORC names, the environment's own where it begins with a comment; locked: the flags of the
# expectation, None in a diagnosis. fix: how it begins, None where the check passes.
@pytest.mark.parametrize(
    ("flags", "user_flags", "file", "locked", "detail", "fix"),
    [
        ({"blas.ldflags": ""}, "", "", {"blas.ldflags": "-la"}, NO_LD, REPAIR),
        ({}, "", OWN_FILE, {"on_unused_imput": "warn"}, NO_FLAG, UNKNOWN),
        *(
            ({flag: value}, setting, "", locked, f"{setting} {what}", REMOVE % setting)
            for flag, value, what in (
                ("mode", "FAST_COMPILE", "is for tests of a graph, not for speed"),
                ("linker", "vm", "runs the loop over operations in Python"),
                ("optimizer", "merge", "leaves out optimisations"),
                ("cmodule.remove_gxx_opt", "True", "has g++ compile without optimisation"),
            )
            for setting in (f"{flag}={value}",)
            for locked in (None, GXX)
        ),
        *(
            ({"gcc.cxxflags": options}, f"gcc.cxxflags='{options}'", "", None, detail, fix)
            for options, detail, fix in (
                ("-O0 -g", LEVEL % "-O0", CXXFLAGS),
                ("-O3 -Og", LEVEL % "-Og", CXXFLAGS),
                ("-O0 -O2", ON, None),
                ("-g", ON, None),
            )
        ),
        # The framework takes this linker without a compiler: no fault of its own.
        ({"linker": "py", "cxx": ""}, "cxx=", "", GXX, NO_CXX, "remove cxx= from THEANO_FLAGS"),
        ({"linker": "py", "cxx": ""}, "", "[global]\nlinker = py\n", None, FILE_OFF, FILE_FIX),
        # Spaces and the case of truth values do not matter.
        ({"mode": "Mode"}, "", "", {"cxx": "  g++ ", "mode": "Mode"}, "2 in force", None),
        # The folder of compiled modules is the user's choice.
        (MINE, "base_compiledir=/mine", "", THEIRS, "1 in force", None),
    ],
)
def test_the_settings_in_force(
    flags: dict[str, str],
    user_flags: str,
    file: str,
    locked: dict[str, str] | None,
    detail: str,
    fix: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "etc/theanorc"
    (path.parent / "theano-stacks" if file.startswith("#") else path.parent).mkdir(parents=True)
    path.write_text(file)
    own = {"THEANORC": str(path), "PATH": str(tmp_path), "MALLOC_CHECK_": "3"}
    monkeypatch.setattr(settings.os, "environ", own)
    detail += "" if fix else "; MALLOC_CHECK_=3 slows every allocation of memory"
    expectation = None if locked is None else {**LOCKED, "flags": locked}
    made = context({"cxx": "g++", **flags}, user_flags=user_flags, expectation=expectation)
    check = settings.check(made)
    assert (check.status, check.detail) == ("fail" if fix else "pass", detail)
    assert (check.fix or "").startswith((fix or "").replace("FILE", str(path)))


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


FLOAT16 = "floatX=float16: a small function takes %s times as long as without it"
NEVER = "openmp=True: a forked process never ends its own loops; before you use multiprocessing, "
NEVER += "remove openmp=True from THEANO_FLAGS"
NO_AVX = "gcc.cxxflags=-mno-avx: a small function takes 4.0 times as long as without it"
JIT = "NUMBA_DISABLE_JIT=1: a small function takes 165 times as long as without it"


# printed: by the programs that time a function, in turn.
@pytest.mark.parametrize(
    ("flags", "variables", "printed", "detail", "is_advice"),
    [
        ({"floatX": "float32"}, {}, [], settings.NOT_SLOW, False),
        ({"floatX": "float16"}, {}, ["0.165", "0.001"], FLOAT16 % 165, True),
        ({"floatX": "float16"}, {}, ["2.7349", "0.001"], FLOAT16 % 2735, True),
        ({"floatX": "float16"}, {}, ["0.0016", "0.001"], FLOAT16 % 1.6, True),
        ({"floatX": "float16"}, {}, ["0.0012", "0.001"], FLOAT16 % 1.2, False),
        # What is measured whatever its value is.
        ({"gcc.cxxflags": "-mno-avx", "cxx": "g++"}, {}, ["0.004", "0.001"], NO_AVX, True),
        # A variable of numba counts where programs run numba.
        ({}, {"NUMBA_DISABLE_JIT": "1"}, [], settings.NOT_SLOW, False),
        ({"runs_numba": True}, {"NUMBA_DISABLE_JIT": "1"}, ["0.165", "0.001"], JIT, True),
        # A fork after a loop of OpenMP.
        ({"openmp": True}, {}, ['"never ends its own"'], NEVER, True),
        ({"openmp": True}, {}, ['""'], "openmp=True: a forked process ends", False),
        ({"openmp": True}, {}, ["odd"], "openmp=True: a forked process was not tried", False),
    ],
)
def test_a_slow_setting_is_a_warning_with_the_measured_ratio(
    flags: dict[str, Any],
    variables: dict[str, str],
    printed: list[str],
    detail: str,
    is_advice: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PYTHONMALLOC", "PYTHONDEVMODE", "PYTHONTRACEMALLOC", "NUMBA_DISABLE_JIT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"THEANORC": "", **variables}.items():
        monkeypatch.setenv(name, value)
    outputs, commands = iter(f"verify-result {each}" for each in printed), []

    def call(command: list[str], *_: object) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(output=next(outputs))

    monkeypatch.setattr(settings.process, "call", call)
    user_flags = ",".join(f"{name}={value}" for name, value in flags.items())
    where = context(flags, advice=[], folder=str(tmp_path), user_flags=user_flags)
    where.framework.runs_numba = flags.get("runs_numba", False)
    found = settings.check_cost(where)
    assert (found.status, found.detail, where.advice) == ("pass", detail, [detail] * is_advice)
    assert list(outputs) == []
    # The environment's Python may set it again.
    assert not variables or not commands or commands[1][-1] == "NUMBA_DISABLE_JIT"


@pytest.mark.parametrize(
    ("script", "status", "detail"),
    [
        ("""echo noise; echo 'verify-result ["scan in C", "pass", "50 steps", null]'""", "pass",
         "50"),
        ("exit 1", "fail", "its process failed: it printed nothing"),
    ],
)  # fmt: skip
def test_the_result_of_the_other_process(
    script: str, status: str, detail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compiled/one").mkdir(parents=True)
    flags = {"base_compiledir": str(tmp_path / "compiled")}
    framework = SimpleNamespace(name="theano", flag=flags.get)
    commands = []

    def command(*words: str) -> list[str]:
        commands.append(words)
        return ["sh", "-c", script]

    monkeypatch.setattr(scan.process, "suite_command", command)
    context = Context(framework, None, str(tmp_path), "cxx=")
    check = scan.start(context)()
    assert commands == [("probe", "checks.scan:checked", "theano", f"{tmp_path}/scan", "cxx=")]
    assert (tmp_path / "scan/one").is_dir(), "it begins with what is compiled"
    assert check.status == status and check.detail.startswith(detail)
    command_again = '/verify probe checks.scan:checked theano "$(mktemp -d)" cxx='
    assert status == "pass" or check.fix.endswith(command_again)
    # Where nothing compiles, it is a consequence.
    shutil.rmtree(tmp_path / "scan")
    assert scan.start(context, "raise it")().fix == ("raise it" if status == "fail" else None)
