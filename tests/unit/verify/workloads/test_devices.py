"""Functions on the device that JAX computes on, and waiting for a device."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

devices = suite_module("workloads.devices")
cuda = suite_module("device.drivers")
ops_module = suite_module("workloads.ops")
LinkerError = devices.frameworks.LinkerError


def jax(platform: str, precision: str | None = None) -> Any:
    device = SimpleNamespace(platform=platform, id=0, device_kind="a kind")
    return SimpleNamespace(
        __version__="0.11",
        devices=lambda: [device],
        device_put=lambda value: ("on the device", value),
        config=SimpleNamespace(jax_default_matmul_precision=precision),
    )


GPU = cuda.Device("a GPU", "CUDA 13.0", "cuda0", {"float32": 6e4}, False)
EXACT = "JAX 0.11, products in precision highest"


@pytest.mark.parametrize(
    ("platform", "precision", "device"),
    [
        ("cpu", None, ("a processor", "JAX 0.11", "cpu", {}, True)),
        ("gpu", "highest", GPU._replace(driver=f"CUDA 13.0, {EXACT}")),
        # Of another maker than NVIDIA.
        ("rocm", None, ("a kind", "JAX 0.11", "rocm0", {}, False)),
    ],
)
def test_the_device_of_jax(
    platform: str, precision: str | None, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cuda_device(number: int) -> Any:
        if platform != "gpu":
            raise cuda.NoDeviceError("no driver", "install it")
        return [GPU][number]

    monkeypatch.setitem(sys.modules, "jax", jax(platform, precision))
    monkeypatch.setattr(devices.machine, "describe", lambda _: {"cpu": "a processor"})
    monkeypatch.setattr(cuda, "cuda_device", cuda_device)
    assert devices.find_jax() == device


def test_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(LinkerError, match="JAX cannot be used") as caught:
        devices.find_jax()
    assert "omit --linker" in caught.value.fix


def test_arguments_are_moved_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", jax("gpu"))
    cell = SimpleNamespace(storage=[1.5])
    devices.place_on_jax(SimpleNamespace(input_storage=[cell]))
    assert cell.storage == [("on the device", 1.5)]


def arguments(linker: str | None, *, debug: bool = False) -> Any:
    return SimpleNamespace(linker=linker, debug=debug, workload="ntm")


def test_what_jax_cannot_compile_is_one_line() -> None:
    with (
        pytest.raises(LinkerError, match=r"^JAX cannot run ntm: ValueError: no such op$"),
        devices.jax_failures(arguments("jax")),
    ):
        raise ValueError("\nno such op\nand much more")


@pytest.mark.parametrize(
    ("passing", "error"),
    [
        (arguments(None), ValueError("a fault")),
        (arguments("jax", debug=True), ValueError("a fault")),
        (arguments("jax"), FileNotFoundError("a fault")),
    ],
)
def test_other_errors_are_let_through(passing: Any, error: Exception) -> None:
    with pytest.raises(type(error), match="a fault"), devices.jax_failures(passing):
        raise error


class Array:
    """An array of a device, which is computed when a program waits for it."""

    computed = False

    def sync(self) -> None:
        self.computed = True


class Thunk:
    """A node's thunk in C: it returns at once, its result is not computed yet."""

    cthunk = "C"

    def __init__(self) -> None:
        self.outputs: list[list[Any]] = [[None], [None]]

    def __call__(self) -> str:
        self.outputs[0][0], self.outputs[1][0] = Array(), 1.5
        return "done"


def function(thunks: list[Any], *nodes: Any) -> Any:
    """Return what stands for a compiled function."""
    graph = SimpleNamespace(toposort=lambda: list(nodes))
    return SimpleNamespace(
        maker=SimpleNamespace(fgraph=graph), fn=SimpleNamespace(thunks=list(thunks))
    )


def test_each_node_of_a_scan_waits_and_keeps_its_attributes() -> None:
    thunk = Thunk()
    scan = type("Scan", (), {})()
    scan.fn = function([thunk])
    devices.at_each_node(function([], SimpleNamespace(op=scan)))
    (changed,) = scan.fn.fn.thunks
    assert changed() == "done"
    assert thunk.outputs[0][0].computed
    assert thunk.outputs[1][0] == 1.5
    assert hasattr(changed, "cthunk"), "the profile tells C from Py by it"
    with pytest.raises(AttributeError):
        _ = changed.perform


def test_a_call_waits_for_its_updates() -> None:
    waited: list[bool] = []
    devices.for_results(SimpleNamespace(sync_shared=lambda: waited.append(True)), 1.5)
    devices.for_results(SimpleNamespace(), 1.5)
    assert waited == [True]


def test_a_call_of_jax_waits_for_its_output_and_its_updates() -> None:
    waited: list[str] = []

    def array(name: str) -> Any:
        return SimpleNamespace(block_until_ready=lambda: waited.append(name))

    cells = [SimpleNamespace(storage=[value]) for value in (array("update"), 1.5)]
    devices.for_results(SimpleNamespace(input_storage=cells), array("output"))
    assert waited == ["output", "update"]


class Samples(list[list[int]]):
    """A shared array of shape (4, 1), which notes how it is divided."""

    type = SimpleNamespace(shape=(4, 1))

    def reshape(self, shape: tuple[int, ...]) -> list[Any]:
        assert shape == (2, 2, 1)
        return [self[:2], self[2:]]


@pytest.mark.parametrize("static", [False, True])
def test_a_minibatch_has_the_same_rows_with_fixed_shapes(static: bool) -> None:
    framework = SimpleNamespace(
        name="pytensor", tensor=None, config=SimpleNamespace(), module=None, batched_dot=None
    )
    made = ops_module.Ops(framework, "float32", False, static=static)
    assert made.minibatch([Samples([[0], [1], [2], [3]])], 1, 2) == [[[2], [3]]]
