"""The frameworks' profiles as plain data."""

from types import SimpleNamespace
from typing import Any

from unit.helpers.suite import suite_module

profiles = suite_module("workloads.profiles")


class Gemm:
    """An op; its text is the class's name."""

    def __str__(self) -> str:
        return "Gemm{inplace}"


class Node:
    """A node, by default of a Gemm."""

    def __init__(self, *inputs: str, op: Any = None) -> None:
        self.op, self.inputs = op or Gemm(), inputs


def function(nodes: dict[Any, tuple[float, int, bool]], **more: Any) -> Any:
    """Return a profiled function: {node: (seconds, calls, whether it is C)}."""
    profile = SimpleNamespace(
        fct_callcount=2,
        fct_call_time=3.0,
        vm_call_time=2.5,
        nb_nodes=len(nodes),
        apply_time={key: seconds for key, (seconds, _, _) in nodes.items()},
        apply_callcount={key: calls for key, (_, calls, _) in nodes.items()},
        apply_cimpl={
            key[1] if isinstance(key, tuple) else key: is_c for key, (_, _, is_c) in nodes.items()
        },
        **more,
    )
    plain = [key[1] if isinstance(key, tuple) else key for key in nodes]
    fgraph = SimpleNamespace(toposort=lambda: plain)
    return SimpleNamespace(
        profile=profile,
        maker=SimpleNamespace(fgraph=fgraph, profile=profile),
        fn=SimpleNamespace(time_thunks=True),
    )


def test_rows_are_summed_by_class_and_op() -> None:
    first, second = Node("x", "<y at 0x7f00aa>"), Node("z")
    content = profiles.of_function(function({first: (0.5, 2, True), second: (1.0, 2, False)}))
    assert (content["calls"], content["seconds"], content["thunk_seconds"]) == (2, 3.0, 1.5)
    (row,) = content["ops"]
    assert row == {
        "op": "Gemm{inplace}",
        "seconds": 1.5,
        "calls": 4,
        "applies": 2,
        "type": "C & Py",
    }
    assert content["classes"][0]["class"].endswith(".Gemm")
    assert [(row["apply"], row["id"], row["type"]) for row in content["applies"]] == [
        ("Gemm{inplace}(z)", 1, "Py"),
        ("Gemm{inplace}(x, <y>)", 0, "C"),
    ]
