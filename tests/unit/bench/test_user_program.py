"""A user's program on several variants: one run, the rounds, the table."""

import json
import os
import select
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.bench import user_program
from stacks.bench.candidates import Candidate
from stacks.bench.result import Noise
from stacks.bench.user_program import ProgramRun, bench, run_once, show
from stacks.core.errors import UsageError
from stacks.core.process import CommandError
from stacks.profiles.run import ProgramError
from unit.helpers.benching import candidate
from unit.helpers.processes import interrupt_at_start

COMPILED = """echo '{"compile": 1.5, "peak": 7000000}' > $THEANO_STACKS_TIMES/7.json; """
MARKS = "import os, sys\nfor _ in range(4): print('THEANO_STACKS_STEP')\n"


@pytest.fixture
def candidates(tmp_path: Path) -> list[Candidate]:
    return [replace(candidate(name), place=tmp_path) for name in ("openblas", "mkl", "blis")]


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_a_run(candidates: list[Candidate], tmp_path: Path) -> None:
    run = run_once(candidates[0], ["sh", "-c", COMPILED + 'exec "$@"', "sh", *python(MARKS)])
    assert run.compile == 1.5
    assert len(run.steps) == 3 and run.step is not None
    assert run.first_step is not None and 0 < run.first_step < run.wall
    assert run.memory == 7 and run.cpu > 0
    # Without marks, in the environment.
    program = (
        f'[ "$CONDA_PREFIX" = {tmp_path} ] && case "$PATH" in {tmp_path}/bin:*) ;; *) exit 9; esac'
    )
    run = run_once(candidates[0], ["sh", "-c", program])
    assert (run.steps, run.step, run.first_step, run.compile) == ((), None, None, 0)
    assert run.memory > 1
    # A mark counts behind the line that a progress bar leaves open.
    program = "import sys\nfor each in range(3):\n    sys.stderr.write('\\r 3%|#   | 3/100')\n"
    program += "    print('THEANO_STACKS_STEP')\n"
    assert len(run_once(candidates[0], python(program)).steps) == 2


@pytest.mark.parametrize(
    ("starter", "child"), [("", "sleep 1000"), ("setsid", "sleep 1000"), ("setsid", "yes")]
)
def test_a_run_ends_with_its_program_though_a_child_holds_its_output(
    starter: str, child: str, candidates: list[Candidate], tmp_path: Path
) -> None:
    pid, pipe, started = (tmp_path / name for name in ("pid", "pipe", "started"))
    os.mkfifo(pipe)
    os.mkfifo(started)
    # Its end comes when all that write into it are gone.
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)) as end:
        program = f"echo THEANO_STACKS_STEP; exec 9> {pipe}; "
        program += f"{starter} sh -c 'echo > {started}; exec {child}' & "
        program += f"echo $! > {pid}; read line < {started}"
        run = run_once(candidates[0], ["sh", "-c", program])
        assert run.first_step is not None and run.wall < 500
        if starter:
            with suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), signal.SIGKILL)
        assert select.select([end], [], [], 30)[0], "it would disturb the next turn"


@pytest.mark.parametrize(
    ("program", "status", "found"),
    [("exit 3", 3, "exit status 3"), ("kill -9 $$", 137, "killed by signal 9")],
)
def test_of_a_failed_program_no_figure_is_kept(
    program: str,
    status: int,
    found: str,
    candidates: list[Candidate],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "runs.json"
    with pytest.raises(ProgramError, match=found) as raised:
        bench(candidates, ["sh", "-c", f"echo out; echo err >&2; {program}"], json_file=file)
    assert raised.value.exit_code == status
    output = capfd.readouterr()
    assert "out\nerr\n" in output.err and output.out == ""
    assert not file.exists()


def test_what_cannot_be_run(candidates: list[Candidate]) -> None:
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        run_once(candidates[0], ["no-such-program"])
    with pytest.raises(UsageError, match="--rounds -1"):
        bench(candidates, ["true"], rounds=-1)


def test_a_signal_while_the_program_is_started_ends_it(
    candidates: list[Candidate], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = interrupt_at_start(monkeypatch, user_program)
    with pytest.raises(KeyboardInterrupt):
        run_once(candidates[0], ["sleep", "1000"])
    assert started[0].returncode == -signal.SIGINT


@pytest.mark.parametrize("handler", ["lambda *_: (os.unlink(path), os._exit(0))", "signal.SIG_IGN"])
def test_a_program_may_remove_its_files_when_it_is_interrupted(
    handler: str, candidates: list[Candidate], tmp_path: Path
) -> None:
    """One that ignores it is killed."""
    program = f"import os, signal, time; path = {str(tmp_path / 'file')!r}; open(path, 'w'); "
    program += f"signal.signal(signal.SIGINT, {handler}); "
    program += "os.kill(os.getppid(), signal.SIGINT); time.sleep(1000)"
    with pytest.raises(KeyboardInterrupt):
        run_once(candidates[0], python(program))
    assert (tmp_path / "file").exists() is (handler == "signal.SIG_IGN")


def a_run(wall: float, *steps: float) -> ProgramRun:
    return ProgramRun(wall, wall, 0.1, 100.0, None, steps)


def test_the_rounds_their_table_and_their_file(
    candidates: list[Candidate],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy = Noise(load=3.0, others=1.5, steal=0.0, throttled=0.0, frequency=None)
    monkeypatch.setattr(user_program, "watch_noise", lambda: lambda: busy)
    file = tmp_path / "runs.json"
    bench(candidates, ["true"], rounds=2, json_file=file, run=lambda *_: a_run(2.0))
    names = [candidate.variant.id for candidate in candidates]
    output = capsys.readouterr()
    assert output.out.splitlines()[-1] == (
        "note: other programs were busy in 6 of 6 measurements, on up to 1.5 cores"
    )
    assert output.err.replace("theano-1.0.5/", "").splitlines() == [
        *(f"  first run: {name}: 2.00 s" for name in ("openblas", "mkl", "blis")),
        *(f"  round 1 of 2: {name}: 2.00 s" for name in ("openblas", "mkl", "blis")),
        *(f"  round 2 of 2: {name}: 2.00 s" for name in ("mkl", "blis", "openblas")),
    ]
    content = json.loads(file.read_text())
    assert content["command"] == ["true"]
    counts = {name: len(found) for name, found in content["rounds"].items()}
    assert counts == dict.fromkeys(names, 2)
    assert sorted(content["first"]) == sorted(names)


def test_two_stacks_of_one_name_have_rows_of_their_own(
    candidates: list[Candidate], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The default is 9 rounds after the first run."""
    files = [Path(f"/{name}/model/stack.yaml") for name in "ab"]
    for at, file in enumerate(files):
        variant = candidates[0].variant.model_copy(update={"name": "model", "file": file})
        candidates[at] = replace(candidates[0], variant=variant)
    ran: list[Candidate] = []

    def run(candidate: Candidate, command: object) -> ProgramRun:
        ran.append(candidate)
        return a_run(1.0)

    bench(candidates[:2], ["true"], run=run)
    output = capsys.readouterr().out
    assert all(f"\n  {file} " in output for file in files)
    assert len(ran) == 2 * (1 + 9)


def test_short_steps_are_averaged_as_many_marks_come_at_once() -> None:
    many = (0.004, 0.0, 0.0, 0.006, 0.0, 0.0, 0.004, 0.004, 0.002, 0.0, 0.1)
    assert a_run(1.0, *many).step == pytest.approx(0.0025)
    assert a_run(1.0, 0.02, 0.03, 0.05).step == 0.03
    assert a_run(1.0, 0.001, 0.003).step == 0.002


SLOW = [a_run(2.0 + n / 10) for n in range(7)]
FAST = [a_run(1.0 + n / 10) for n in range(7)]
MIXED = [a_run(2.0 + (-1) ** n / 10) for n in range(7)]


@pytest.mark.parametrize(
    ("timed", "best", "verdict"),
    [
        ({"a": SLOW, "b": FAST}, ["b"], "run: b is the fastest"),
        ({"a": MIXED, "b": [a_run(2.0)] * 7}, ["b", "a"],
         "run: the rounds show no fastest variant; b has the lowest median"),
        ({"a": SLOW}, ["a"], "one variant: nothing to compare it with"),
        (
            {
                "a": [a_run(1.0, 0.2 + n / 100) for n in range(7)],
                "b": [a_run(9.0, 0.1 + n / 100) for n in range(7)],
            },
            ["b"],
            "step: b is the fastest",
        ),
    ],
)  # fmt: skip
def test_the_fastest_is_named_where_the_rounds_show_it(
    timed: dict[str, list[ProgramRun]],
    best: list[str],
    verdict: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show({name: [found[0], *found] for name, found in timed.items()}) == best
    assert capsys.readouterr().out.splitlines()[-1] == verdict


def test_the_table_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("theano-1.0.5/pip-default", "theano-1.0.5/openblas-amdlibm")
    show({name: [a_run(104.0), *(a_run(100.0 + n, 0.2) for n in range(7))] for name in names})
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and line[0] != " "] == [
        *("first run, s", "run, s", "step, ms", "processor time, s", "compilation, ms"),
        "peak memory, MB",
        "ratio: how many times as fast as pip-default in the same rounds, the median",
        "step: the rounds show no fastest variant; theano-1.0.5/pip-default has the lowest median",
    ]
    openblas = [" ".join(line.split()) for line in lines if "openblas" in line]
    assert openblas[:3] == [
        "openblas-amdlibm 104 104 - 104 1.00 1 start",
        "openblas-amdlibm 103 102 - 104 1.00 1.00-1.00",
        "openblas-amdlibm 200 200 - 200 1.00 1.00-1.00",
    ]
    assert max(map(len, lines[:-1])) <= 80, lines
