"""Functions on the device that JAX computes on, and waiting for a device."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from verify.device import drivers as cuda
from verify.workloads import devices

LinkerError = devices.frameworks.FrameworkError
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
            raise cuda.FrameworkError("no driver", "install it")
        return [GPU][number]

    jax = SimpleNamespace(
        __version__="0.11",
        devices=lambda: [SimpleNamespace(platform=platform, id=0, device_kind="a kind")],
        device_put=lambda value: ("on the device", value),
        config=SimpleNamespace(jax_default_matmul_precision=precision),
    )
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setattr(devices.machine, "describe", lambda _: {"cpu": "a processor"})
    monkeypatch.setattr(cuda, "cuda_device", cuda_device)
    assert devices.find_jax() == device
    # Arguments are moved to it.
    cell = SimpleNamespace(storage=[1.5])
    devices.place_on_jax(SimpleNamespace(input_storage=[cell]))
    assert cell.storage == [("on the device", 1.5)]
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(LinkerError, match="JAX cannot be used") as caught:
        devices.find_jax()
    assert "omit --linker" in caught.value.fix


UNKNOWN = ValueError("\nno such op\nand much more")


@pytest.mark.parametrize(
    ("linker", "debug", "error", "raised", "message"),
    [
        ("jax", False, UNKNOWN, LinkerError, r"^JAX cannot run ntm: ValueError: no such op$"),
        (None, False, UNKNOWN, ValueError, "and much more"),
        ("jax", True, UNKNOWN, ValueError, "and much more"),
        ("jax", False, FileNotFoundError("a fault"), FileNotFoundError, "a fault"),
    ],
)
def test_what_jax_cannot_compile_is_one_line(
    linker: str | None, debug: bool, error: Exception, raised: type[Exception], message: str
) -> None:
    arguments = SimpleNamespace(linker=linker, debug=debug, workload="ntm")
    with pytest.raises(raised, match=message), devices.jax_failures(arguments):
        raise error


class Thunk:
    """A node's thunk in C: it returns at once, its result is not computed yet."""

    cthunk = "C"

    def __init__(self, waited: list[str]) -> None:
        array = SimpleNamespace(sync=lambda: waited.append("node"))
        self.outputs: list[list[Any]] = [[array], [1.5]]

    def __call__(self) -> str:
        return "done"


def function(thunks: list[Any], *nodes: Any) -> Any:
    """Return what stands for a compiled function."""
    graph = SimpleNamespace(toposort=lambda: list(nodes))
    machine = SimpleNamespace(thunks=list(thunks))
    return SimpleNamespace(maker=SimpleNamespace(fgraph=graph), fn=machine)


def test_each_node_of_a_scan_waits_and_keeps_its_attributes() -> None:
    waited: list[str] = []
    scan = type("Scan", (), {})()
    scan.fn = function([Thunk(waited)])
    devices.at_each_node(function([], SimpleNamespace(op=scan)))
    (changed,) = scan.fn.fn.thunks
    assert (changed(), waited) == ("done", ["node"])
    assert hasattr(changed, "cthunk"), "the profile tells C from Py by it"
    with pytest.raises(AttributeError):
        _ = changed.perform


def test_a_call_waits_for_its_output_and_its_updates() -> None:
    waited: list[str] = []

    def array(name: str) -> Any:
        return SimpleNamespace(block_until_ready=lambda: waited.append(name))

    devices.for_results(SimpleNamespace(sync_shared=lambda: waited.append("theano")), 1.5)
    cells = [SimpleNamespace(storage=[value]) for value in (array("update"), 1.5)]
    devices.for_results(SimpleNamespace(input_storage=cells), array("output"))
    devices.for_results(SimpleNamespace(), 1.5)
    assert waited == ["theano", "output", "update"]
