"""Functions on the device that JAX computes on, and waiting for a device."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

devices = suite_module("workloads.devices")
cuda = suite_module("device.drivers")
description = suite_module("device.drivers")
LinkerError = devices.frameworks.LinkerError


def jax(platform: str, precision: str | None = None) -> Any:
    device = SimpleNamespace(platform=platform, id=0, device_kind="a kind")
    return SimpleNamespace(
        __version__="0.11",
        devices=lambda: [device],
        device_put=lambda value: ("on the device", value),
        config=SimpleNamespace(jax_default_matmul_precision=precision),
    )


def test_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", jax("cpu"))
    monkeypatch.setattr(devices.machine, "describe", lambda _: {"cpu": "a processor"})
    assert devices.find_jax() == ("a processor", "JAX 0.11", "cpu", {}, True)


def test_a_gpu_is_described_by_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", jax("gpu", "highest"))
    gpu = description.Device("a GPU", "CUDA 13.0", "cuda0", {"float32": 6e4}, False)
    monkeypatch.setattr(cuda, "cuda_device", lambda number: [gpu][number])
    driver = "CUDA 13.0, JAX 0.11, products in precision highest"
    assert devices.find_jax() == gpu._replace(driver=driver)


def test_a_device_that_is_not_nvidias(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(number: int) -> None:
        raise description.NoDeviceError("no driver", "install it")

    monkeypatch.setitem(sys.modules, "jax", jax("rocm"))
    monkeypatch.setattr(cuda, "cuda_device", none)
    assert devices.find_jax() == ("a kind", "JAX 0.11", "rocm0", {}, False)


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


@pytest.mark.parametrize("passing", [arguments(None), arguments("jax", debug=True)])
def test_other_errors_are_let_through(passing: Any) -> None:
    with pytest.raises(ValueError, match="a fault"), devices.jax_failures(passing):
        raise ValueError("a fault")


def test_a_missing_file_is_no_fault_of_jax() -> None:
    with pytest.raises(FileNotFoundError), devices.jax_failures(arguments("jax")):
        raise FileNotFoundError("a file")


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


def test_each_node_waits_and_keeps_its_attributes() -> None:
    thunk = Thunk()
    one = function([thunk])
    devices.at_each_node(one)
    (changed,) = one.fn.thunks
    assert changed() == "done"
    assert thunk.outputs[0][0].computed
    assert thunk.outputs[1][0] == 1.5
    assert hasattr(changed, "cthunk"), "the profile tells C from Py by it"
    with pytest.raises(AttributeError):
        _ = changed.perform


def test_nodes_of_scans_wait() -> None:
    thunk = Thunk()

    class Scan:
        def __init__(self) -> None:
            self.fn = function([thunk])

    scan = Scan()
    devices.at_each_node(function([], SimpleNamespace(op=scan)))
    scan.fn.fn.thunks[0]()
    assert thunk.outputs[0][0].computed


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
