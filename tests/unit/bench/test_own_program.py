from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import noise, own_program
from stacks.bench.candidates import Candidate
from stacks.bench.result import Noise
from stacks.core.errors import UsageError
from stacks.core.process import CommandError, start_in_session
from stacks.core.workspace import Workspace
from stacks.locks.lock import Lock
from stacks.profiles.program import ProgramError
from stacks.variants.load import load_variant

COMPILED = """echo '{"compile": 1.5, "peak": 7000000}' > $THEANO_STACKS_TIMES/7.json; """
MARKS = "import os, sys\nfor _ in range(4): print('THEANO_STACKS_STEP')\n"


@pytest.fixture
def candidates(workspace: Workspace, tmp_path: Path) -> list[Candidate]:
    lock = Lock((), ())
    names = ("openblas", "mkl", "blis")
    return [Candidate(load_variant(workspace, name), tmp_path, lock, None) for name in names]


def test_another_variant_is_first_in_each_round(candidates: list[Candidate]) -> None:
    order = [(n, c.variant.name[0]) for n, c in own_program.turns(candidates, 3)]
    assert "".join(f"{number}{name} " for number, name in order) == (
        "0o 0m 0b 1o 1m 1b 2m 2b 2o 3b 3o 3m "
    )


def test_a_run(candidates: list[Candidate]) -> None:
    words = ["sh", "-c", COMPILED + 'exec "$@"', "sh", sys.executable, "-c", MARKS]
    run = own_program.run_once(candidates[0], words)
    assert run.compile == 1.5
    assert len(run.steps) == 3 and run.step is not None
    assert run.first_step is not None and 0 < run.first_step < run.wall
    assert run.memory == 7 and run.cpu > 0


def test_a_program_without_marks(candidates: list[Candidate]) -> None:
    run = own_program.run_once(candidates[0], ["true"])
    assert (run.steps, run.step, run.first_step, run.compile) == ((), None, None, 0)
    assert run.memory > 1


def test_it_runs_in_the_environment(candidates: list[Candidate], tmp_path: Path) -> None:
    program = (
        f'[ "$CONDA_PREFIX" = {tmp_path} ] && case "$PATH" in {tmp_path}/bin:*) ;; *) exit 9; esac'
    )
    own_program.run_once(candidates[0], ["sh", "-c", program])


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
        own_program.bench(
            candidates, ["sh", "-c", f"echo out; echo err >&2; {program}"], json_file=file
        )
    assert raised.value.exit_code == status
    output = capfd.readouterr()
    assert "out\nerr\n" in output.err and output.out == ""
    assert not file.exists()


def test_a_missing_program(candidates: list[Candidate]) -> None:
    with pytest.raises(CommandError, match="cannot run no-such-program"):
        own_program.run_once(candidates[0], ["no-such-program"])


def test_no_rounds(candidates: list[Candidate]) -> None:
    with pytest.raises(UsageError, match="--rounds -1"):
        own_program.bench(candidates, ["true"], rounds=-1)


def test_the_table_and_the_file(
    candidates: list[Candidate], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.json"
    own_program.bench(candidates, ["true"], rounds=2, json_file=file)
    names = [candidate.variant.id for candidate in candidates]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["openblas", "mkl", "blis"]
    content = json.loads(file.read_text())
    assert content["command"] == ["true"]
    assert {name: len(found) for name, found in content["rounds"].items()} == dict.fromkeys(
        names, 2
    )
    assert sorted(content["first"]) == sorted(names)


def test_two_stacks_of_one_name_have_rows_of_their_own(
    candidates: list[Candidate], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [Path(f"/{name}/model/stack.yaml") for name in "ab"]
    for at, file in enumerate(files):
        variant = candidates[0].variant.model_copy(update={"name": "model", "file": file})
        candidates[at] = replace(candidates[0], variant=variant)
    own_program.bench(candidates[:2], ["true"], rounds=1, json_file=tmp_path / "runs.json")
    assert list(json.loads((tmp_path / "runs.json").read_text())["rounds"]) == list(map(str, files))
    output = capsys.readouterr().out
    assert all(f"\n{file} " in output for file in files)


def test_what_disturbed_the_rounds_is_said_below_the_table(
    candidates: list[Candidate], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = Noise(load=3.0, others=1.5, steal=0.0, throttled=0.0, frequency=None)
    monkeypatch.setattr(noise, "between", lambda *_: busy)
    own_program.bench(candidates[:2], ["true"], rounds=2)
    note = "note: other programs were busy in 4 of 4 measurements, on up to 1.5 cores\n"
    assert capsys.readouterr().out.endswith(note)


def test_a_signal_ends_the_program(candidates: list[Candidate], tmp_path: Path) -> None:
    file = tmp_path / "pid"
    program = f"import os, signal, time; open({str(file)!r}, 'w').write(str(os.getpid())); "
    program += "os.kill(os.getppid(), signal.SIGTERM); time.sleep(1000)"
    with pytest.raises(SystemExit) as raised:
        own_program.run_once(candidates[0], [sys.executable, "-c", program])
    assert raised.value.code == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


def test_a_signal_while_the_program_is_started_ends_it(
    candidates: list[Candidate], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def start_and_be_interrupted(*arguments: Any) -> Any:
        started.append(start_in_session(*arguments))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    monkeypatch.setattr(own_program, "start_in_session", start_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        own_program.run_once(candidates[0], ["sleep", "1000"])
    assert started[0].returncode == -signal.SIGKILL


def test_the_processor_time_of_a_step(candidates: list[Candidate]) -> None:
    program = "import time\nwhile time.process_time() < 0.2: pass\n"
    program += "for each in range(1, 6):\n    print('THEANO_STACKS_STEP')\n"
    program += "    while time.process_time() < 0.2 + 0.15 * each: pass\n"
    run = own_program.run_once(candidates[0], [sys.executable, "-c", program])
    assert run.first_step_cpu is not None and run.step_cpu is not None
    assert 0.18 <= run.first_step_cpu < run.cpu
    # Four steps of 0.15 s, counted in hundredths.
    assert run.step_cpu == pytest.approx(0.15, abs=0.03)


def test_a_mark_counts_behind_the_line_that_a_progress_bar_leaves_open(
    candidates: list[Candidate],
) -> None:
    program = "import sys\nfor each in range(3):\n    sys.stderr.write('\\r 3%|#   | 3/100')\n"
    program += "    print('THEANO_STACKS_STEP')\n"
    run = own_program.run_once(candidates[0], [sys.executable, "-c", program])
    assert len(run.steps) == 2
