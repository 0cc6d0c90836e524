"""The workloads: their command line, cases and calls, graphs, samples, and reports as text.

They run for real in tests/integration/test_workloads.py; the profile's form is tested with
./invoke profile. The hook that times a person's own program.
"""

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.environments.programs import SUITE
from unit.helpers.profiles import case, profile, report, tables
from verify.core import graph, portable
from verify.workloads import cli, rounds, table
from verify.workloads import run as runs
from verify.workloads.ops import Model


@pytest.mark.parametrize(
    ("argv", "calls", "profile_calls"),
    [
        (["ntm"], 100, 100),
        (["check_blas"], 10, 10),
        (["lstm", "--calls", "3"], 3, 3),
        (["lstm", "--calls", "3", "--profile-calls", "0"], 3, 0),
        ([], None, None),
        (["ntm", "--show", "x.json"], None, None),
        (["ntm", "--calls", "0"], None, None),
        (["ntm", "--profile-calls", "-1"], None, None),
    ],
)
def test_the_numbers_of_calls(argv: list[str], calls: int | None, profile_calls: int) -> None:
    if calls is None:
        with pytest.raises(SystemExit) as caught:
            cli.parse(argv)
        assert caught.value.code == 2
    else:
        arguments = cli.parse(argv)
        assert (arguments.calls, arguments.profile_calls) == (calls, profile_calls)


@pytest.mark.parametrize(
    ("device", "opened", "status", "message"),
    [
        (None, "cpu", 3, "no driver"),
        ({"name": "a device"}, "cpu", 2, "Theano opened cpu instead of cuda"),
        ({"name": "a device"}, "cuda", 0, ""),
    ],
)
def test_a_missing_device_has_status_3_and_another_one_status_2(
    device: object,
    opened: str,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def check(context: Any) -> Any:
        context.device = device
        return SimpleNamespace(detail="no driver")

    framework = SimpleNamespace(on_device=opened == "cuda", flag={"device": opened}.get)
    monkeypatch.setenv("THEANO_STACKS_MODULES", "0")
    monkeypatch.setattr(cli.frameworks, "load", lambda name: framework)
    monkeypatch.setattr(cli, "_start", lambda *_: 0)
    monkeypatch.setattr(cli.device_check, "requested", lambda *_: "cuda")
    monkeypatch.setattr(cli.device_check, "check", check)
    assert cli.main(["ntm"]) == status
    assert message in capsys.readouterr().err


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a framework whose functions return 1.5, with a workload of two cases."""
    names = ("first", "second")
    cases = [Model(name, "a scalar", [], {"steps": 3}, None, None, (), True) for name in names]
    monkeypatch.setitem(runs.WORKLOADS, "pair", lambda ops, small: cases)
    monkeypatch.setattr(runs, "Ops", lambda *_, **__: None)
    for name in ("switched_off", "forget_calls"):
        monkeypatch.setattr(runs.profiles, name, lambda function: nullcontext())
    monkeypatch.setattr(runs.graph, "describe", lambda function: {"signature": "a"})
    return SimpleNamespace(
        profiling=SimpleNamespace(_atexit_print_list=["a profile"]),
        flag=lambda name: "/nowhere",
        collecting=lambda is_on: nullcontext(),
        function=lambda *_: lambda: 1.5,
    )


def run(framework: Any, device: object = None, **changes: Any) -> Any:
    defaults = {"workload": "pair", "case": None, "small": True, "linker": None, "dtype": None}
    arguments = SimpleNamespace(**{**defaults, "profile_calls": 0, **changes})
    return runs.WorkloadRun(framework, None, arguments, device)


def test_the_requested_cases_take_turns_and_an_unknown_one_is_refused(framework: Any) -> None:
    made = run(framework)
    assert framework.profiling._atexit_print_list == []
    seconds = made.call(3)
    assert {name: len(samples) for name, samples in seconds.items()} == {"first": 3, "second": 3}
    for requested, found in (("second", ["second"]), ("second,first", ["first", "second"])):
        cases = run(framework, case=requested).compiled()
        assert [each["name"] for each in cases] == found
    with pytest.raises(runs.frameworks.FrameworkError, match="there is no case third"):
        run(framework, case="third")


def test_jax_gets_its_arguments_on_the_device_and_is_waited_for(
    framework: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed: list[bool] = []
    placed: list[Any] = []
    waited: list[float] = []
    monkeypatch.setattr(runs, "Ops", lambda *_, static: fixed.append(static))
    monkeypatch.setattr(runs.devices, "place_on_jax", placed.append)
    monkeypatch.setattr(runs.devices, "for_results", lambda _, value: waited.append(value))
    made = run(framework, {"name": "a GPU"}, linker="jax", profile_calls=5)
    assert fixed == [True], "one graph, which is not profiled"
    assert len(placed) == 2 and waited == [1.5, 1.5]
    made.call(1)
    assert len(waited) == 4


class Op:
    """An op with that text."""

    def __init__(self, text: str, **attributes: Any) -> None:
        self.text = text
        vars(self).update(attributes)

    def __str__(self) -> str:
        return self.text


class Scan(Op):
    """A scan whose steps are compiled as `fn`."""


def function(*ops: Op) -> SimpleNamespace:
    """Return what stands for a compiled function of these ops."""
    nodes = [SimpleNamespace(op=op) for op in ops]
    fgraph = SimpleNamespace(toposort=lambda: nodes, apply_nodes=nodes)
    return SimpleNamespace(maker=SimpleNamespace(fgraph=fgraph))


def walk(*ops: Op) -> Scan:
    return Scan("walk}", fn=function(*ops))


def signature(*ops: Op) -> str:
    return str(graph.describe(function(*ops))["signature"])


def test_operations_count_in_a_signature_and_not_their_order_or_addresses() -> None:
    first = signature(Op("Dot22"), Op("<Sum at 0x7f00aa>"))
    assert first == signature(Op("<Sum at 0x7f11bb>"), Op("Dot22"))
    assert first != signature(Op("Dot22"), Op("Dot22"), Op("<Sum at 0x7f00aa>"))
    # The insides of scans count, and so do the parts of a fused op, which PyTensor does not name.
    content = graph.describe(function(walk(Op("Dot22")), Op("Sum")))
    (scan,) = content["scans"]
    assert (content["nodes"], scan["name"], scan["nodes"]) == (2, "walk}", 1)
    assert scan["signature"] == signature(Op("Dot22"))
    assert content["signature"] != signature(walk(Op("Gemm")), Op("Sum"))
    assert len(graph.functions_in(function(walk(walk(walk()))))) == 4
    fused = Op("Composite{...}", scalar_op=function(Op("x")).maker)
    assert graph.op_name(fused) == "Composite{1 Op}"


@pytest.mark.parametrize(
    ("quick", "samples"), [(False, rounds.KERNEL_SAMPLES), (True, rounds.QUICK_KERNEL_SAMPLES)]
)
def test_samples_of_fast_calls_are_long_enough(
    quick: bool, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def call() -> None:
        now[0] += 0.001

    monkeypatch.setattr(portable, "monotonic", lambda: now[0])
    assert rounds._seconds(call, quick) == pytest.approx([0.001] * samples)
    assert now[0] == pytest.approx(0.002 + samples * 0.02, rel=0.1)


def test_a_report_without_a_profile() -> None:
    content = report(case(None, seconds=0.002))
    content["cases"][0].update(flops=4e6)
    lines = table.render(content).splitlines()
    assert lines[0] == "openblas: ntm, float32 on theano 1.0.5, Python 3.9.2"
    assert lines[2:4] == [
        "step (steps 10)",
        "  a call: 2.000 ms, median of 3 (2.000 to 4.000), not profiled",
    ]
    assert lines[-1] == "  1.5 GFLOP/s"
    content["variant"] = None
    assert table.render(content).startswith("ntm, float32 on theano")


def test_the_fast_way_is_compared_with_the_slow_one() -> None:
    slow, fast = case(None, seconds=0.003), case(None, seconds=0.002)
    slow["name"], fast["name"] = "four", "merged"
    fast.update(slow="four", memory={"peak": 2_500_000, "kept": 40_000})
    slow.update(slow=None, memory={"peak": None, "kept": 0})
    content = report(slow, fast)
    content["grad_seconds"] = 28.02125
    text = table.render(content)
    assert "  memory: unknown more during a call; 0.00 MB of results stay" in text
    assert "  memory: 2.50 MB more during a call; 0.04 MB of results stay" in text
    assert "\nTime in all call to theano.grad() 2.802125e+01s\n" in text
    times = "\nmerged instead of four: 1.50 times as fast"
    assert f"{times}; the optimised graphs are the same\n" in text
    fast["graph"]["signature"] = "b" * 12
    assert f"{times}\n" in table.render(content)


def test_a_report_of_a_device_has_its_places() -> None:
    places = {"device": {"GpuGemm": 2}, "host": {"Sum": 1}, "to_device": 3, "from_device": 1}
    content = report({**case(None), "places": places})
    content["device"] = {"where": "cuda", "name": "a GPU", "driver": "CUDA 12"}
    text = table.render(content)
    assert "on cuda: a GPU, CUDA 12\neach call waits for the device" in text
    assert "2 nodes on the device; transfers: 3 to, 1 from; left on the host: Sum 1" in text


def test_long_tables_end_with_the_share_of_the_other_rows() -> None:
    many = tables("Dot22", 2.5, 50, "C", applies=25)
    text = table.render(report(case(profile(many, tables("Gemm", 0.5, 10, "C")))))
    assert "   ... (remaining 5 Apply instances account for  20.00%(0.50s) of the runtime)" in text


# A framework in which the compilation of one function compiles another.
FRAMEWORK = """\
import time
class FunctionMaker(object):
    def __init__(self, inner=None):
        time.sleep(0.01)
        if inner:
            inner().create()
    def create(self):
        return 'created'
"""
PROGRAM = """\
import os, theano.compile.function_module as module
import theano.after
maker = module.FunctionMaker(module.FunctionMaker)
assert maker.create() == 'created'
"""


def test_the_time_of_compilations_is_written_at_the_end(tmp_path: Path) -> None:
    package = tmp_path / "modules/theano/compile"
    package.mkdir(parents=True)
    for path in (
        package.parent / "__init__.py",
        package.parent / "after.py",
        package / "__init__.py",
    ):
        path.write_text("")
    (package / "function_module.py").write_text(FRAMEWORK)
    folder = tmp_path / "times"
    folder.mkdir()
    paths = f"{SUITE / 'program_hook'}:{tmp_path / 'modules'}"
    # The kernel's own figure of a program counts the memory of the one that starts it.
    memory = b"x" * 300_000_000
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": paths, "THEANO_STACKS_TIMES": str(folder)},
        check=True,
    )
    [written] = folder.glob("*.json")
    found = json.loads(written.read_text())
    assert 0.02 <= found["compile"] < 60
    assert 1_000_000 < found["peak"] < len(memory)
