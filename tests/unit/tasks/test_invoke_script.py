"""./invoke on machines that lack something, in odd places, killed, and started twice."""

import json
import os
import signal
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.bare_checkout import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


PREPARING = "preparing the tools in .venv (once, 5 to 30 s) ...\n"
WAITING = "waiting: another ./invoke prepares the tools\n"


def test_runs_invoke_where_the_user_stands_with_the_users_words(machine: Machine) -> None:
    machine.python()
    names = ("PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__", "_PYTHON_SYSCONFIGDATA_NAME")
    other = dict.fromkeys(names, "/bin/sh")
    (machine.bin / "stacks").symlink_to(machine.checkout / "invoke")
    # A link on PATH finds its checkout.
    for program, shown in ((machine.checkout / "invoke", PREPARING), (machine.bin / "stacks", "")):
        code, out, err = machine.run("build", "--variant", "a b", "é", program=program, **other)
        assert (code, err) == (0, shown)
        places = [str(machine.root), str(machine.checkout)]
        assert json.loads(out) == [*places, ["build", "--variant", "a b", "é"]]
    [output] = (machine.root / "installs").read_text().splitlines()
    folders = f"--target= --prefix {machine.checkout}/.venv --root=/"
    assert f"--require-hashes --no-deps --only-binary :all: {folders} -r" in output


def test_two_pips_install_half_of_the_lock_each(machine: Machine) -> None:
    machine.python()
    hashes = " \\\n    --hash=sha256:{0}1 \\\n    --hash=sha256:{0}2\n    # via {0}\n"
    lines = [f"{name}==1{hashes.format(name)}" for name in ("cffi", "invoke", "rich")]
    machine.lock.write_text("# written by\n#    a tool\n" + "".join(lines))
    assert (machine.run()[0], machine.installs()) == (0, 2)
    first, second = sorted((machine.checkout / ".venv").glob("requirements-?.txt"))
    assert first.read_text() == lines[0] + lines[2]
    assert second.read_text() == lines[1]


NO_ANSWER = (
    "Retry(total={}) after connection broken by 'ProxyError('no', <at 0x7f>: refused)': /a/\n"
)


@pytest.mark.parametrize(
    ("lock", "output", "shown"),
    [
        ("invoke==1\n", "ERROR: no such thing as invoke", "ERROR: no such thing as invoke"),
        ("cffi==1\ninvoke==1\nrich==1\n", "ERROR: no such thing", "ERROR: no such thing"),
        ("invoke==1\n", NO_ANSWER.format(1) + NO_ANSWER.format(0) + "ERROR: no matching invoke",
         "pip: the package index does not answer: 'ProxyError('no', refused)'"),
    ],
)  # fmt: skip
def test_a_failing_pip_is_shown_and_tried_again(
    machine: Machine, lock: str, output: str, shown: str
) -> None:
    """Of two pips the one that fails."""
    machine.python()
    machine.lock.write_text(lock)
    (machine.root / "broken").write_text(output)
    code, out, err = machine.run()
    assert (code, out) == (2, "")
    assert err.startswith(
        f"{PREPARING}{shown}\n"
        "error: pip could not install requirements.lock\n  fix:      see pip's message above"
    )
    assert "Without a network: THEANO_STACKS_VENDOR=FOLDER" in err
    (machine.root / "broken").unlink()
    assert machine.run()[0] == 0


@pytest.mark.parametrize("change", ["lock", "stamp", "bin/python", "folder"])
def test_prepares_anew_after_a_change(machine: Machine, change: str) -> None:
    machine.python()
    machine.run()
    if change == "lock":
        machine.lock.write_text("invoke==2\n")
    elif change == "folder":
        machine.checkout = machine.checkout.rename(machine.root / "moved")
    else:
        (machine.checkout / ".venv" / change).unlink()
    code, _, err = machine.run()
    assert (code, err, machine.installs()) == (0, PREPARING, 2)


FIX = (
    "  fix:      Debian, Ubuntu: apt install python3 python3-venv; others: install Python 3.10 or "
    "newer; or say where it is: PYTHON=/path/to/python3 ./invoke\n"
)


@pytest.mark.parametrize(
    ("program", "variables", "error"),
    [
        ("", {},
         f"python3 is missing: Python 3.10 or newer is needed\n  found:    none on PATH\n{FIX}"),
        ("echo 3.9", {},
         "Python is too old: 3.10 or newer is needed\n"
         f"  found:    BIN/python3 is Python 3.9\n{FIX}"),
        ('case "$*" in *ensurepip*) exit 1 ;; esac\necho 3.11', {},
         "Python's venv module is not complete: ensurepip is missing\n"
         "  found:    BIN/python3 (Python 3.11)\n"
         "  fix:      Debian, Ubuntu: apt install python3.11-venv; "
         "or choose another: PYTHON=/path/to/python3 ./invoke\n"),
        ("", {"PATH": ""},
         "PATH leads to none of the system's programs\n  found:    PATH=\n"
         "  fix:      export PATH=/usr/bin:/bin\n"),
        ("", {"PYTHON": "/no/such/python"},
         "the interpreter that PYTHON names does not run\n  found:    PYTHON=/no/such/python\n"
         "  fix:      give the path of a Python 3.10 or newer, or unset PYTHON\n"),
    ],
)  # fmt: skip
def test_without_a_usable_python(
    machine: Machine, program: str, variables: dict[str, str], error: str
) -> None:
    if program:
        machine.program("python3", f"#!/bin/sh\n{program}\n")
    assert machine.run(**variables) == (2, "", f"error: {error.replace('BIN', str(machine.bin))}")


@pytest.mark.parametrize("name", ["my python", "python3.12"])
def test_another_python_than_python3(machine: Machine, name: str) -> None:
    """The one that PYTHON names, or that of another name where python3 is a shim without one."""
    machine.program("python3", "#!/bin/sh\necho 'shim: no such version' >&2\nexit 127\n")
    machine.python(name)
    chosen = {"PYTHON": str(machine.bin / name)} if name == "my python" else {}
    code, _, err = machine.run(**chosen)
    assert (code, err) == (0, PREPARING)


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_of_two_at_once_one_prepares_and_the_other_waits_or_ends_at_an_interrupt(
    is_interrupted: bool, machine: Machine
) -> None:
    machine.python()
    with machine.held() as first:
        assert first.stderr and first.stderr.readline() == PREPARING
        second = machine.start()
        assert second.stderr and second.stderr.readline() == WAITING
        if is_interrupted:
            os.killpg(second.pid, signal.SIGINT)
            assert (second.communicate()[1], second.returncode) == ("", -signal.SIGINT)
    first.communicate()
    assert is_interrupted or (second.communicate()[1], second.returncode) == ("", 0)
    assert (first.returncode, machine.installs()) == (0, 1)


def test_a_slow_network_is_no_silence(machine: Machine) -> None:
    machine.python()
    script = machine.checkout / "invoke"
    script.write_text(script.read_text().replace("timeout=15", "timeout=0.1"))
    with machine.held() as first:
        assert first.stderr and first.stderr.readline() == PREPARING
        assert first.stderr.readline() == "  installing with pip ... 0 s\n"
    assert "error" not in first.communicate()[1]
    assert first.returncode == 0


@pytest.mark.parametrize("with_pip", [True, False])
def test_a_killed_one_leaves_nothing_in_the_way(machine: Machine, with_pip: bool) -> None:
    machine.python()
    with machine.held() as first:
        if with_pip:
            os.killpg(first.pid, signal.SIGKILL)
        else:
            # A pip whose ./invoke was killed is waited for.
            children = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
            for pid in (first.pid, *map(int, children)):
                os.kill(pid, signal.SIGKILL)
        first.communicate()
        second = machine.start()
        if not with_pip:
            assert second.stderr and second.stderr.readline() == WAITING
    _, err = second.communicate()
    assert (err, second.returncode, machine.installs()) == (PREPARING, 0, 2)


@pytest.mark.parametrize(
    ("number", "times", "word"),
    [
        (signal.SIGINT, 1, "interrupted"),
        (signal.SIGINT, 2, "interrupted"),
        (signal.SIGTERM, 1, "ended"),
        (signal.SIGHUP, 2, "ended"),
    ],
)
def test_an_interrupted_one_leaves_nothing_and_says_so(
    number: signal.Signals, times: int, word: str, machine: Machine
) -> None:
    machine.python()
    with machine.held() as first:
        for _ in range(times):
            os.killpg(first.pid, number)
        _, err = first.communicate()
    line = f"\n{word} before the tools in .venv were ready; the same command makes them\n"
    assert (first.returncode, err) == (128 + number, PREPARING + line)
    assert not (machine.checkout / ".venv").exists()
    assert machine.run()[::2] == (0, PREPARING)


@pytest.mark.parametrize("of", ["", "-cluster", "-docs", "-locking", "-test"])
def test_the_locks_pin_every_file_and_name_no_host(of: str) -> None:
    lock = (REPOSITORY / f"requirements{of}.lock").read_text()
    requirements = [line for line in lock.splitlines() if line[:1].isalnum()]
    assert requirements
    assert all("==" in line and line.endswith("\\") for line in requirements)
    assert "://" not in lock
    assert lock.count("\\\n    --hash=sha256:") >= len(requirements)
