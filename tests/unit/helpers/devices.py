"""Results of the steps on a device, made by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from verify.device import report

DEVICE = {"name": "a device", "driver": "1", "where": "opencl0:0", "peaks": {}, "is_cpu": True}
PLACES = {"device": {"GpuGemm": 1}, "host": {}, "to_device": 3, "from_device": 1}
RESULT = {"errors": {"float32": 1e-7, "float64": 1e-16}, "served": True, "places": PLACES}
RUN: dict[str, Any] = {
    "seconds": 3.0,
    "graph": [0.5, 0.4],
    "local": [1.5, 1.0],
    "nodes": [2100, 900, 910],
    "device": 870,
    "host": {"Sum": 1},
    "applied": 500,
}
SPEED = {"size": 512, "theano": [9.0, 10.0], "alone": [10.0], "check_blas": 0.3, "blas": "libx.so"}


def device_context(tmp_path: Path, **attributes: object) -> SimpleNamespace:
    """Return the context of a verification that has opened a device."""
    defaults: dict[str, object] = {
        "expectation": None,
        "user_flags": "",
        "folder": str(tmp_path),
        "peaks": {},
        "requested_device": "opencl0:0",
        "device": dict(DEVICE),
        "device_missing": False,
        "full": False,
    }
    return SimpleNamespace(**{**defaults, **attributes})


def results(**changes: Any) -> dict[str, Any]:
    """Return the messages of all steps of a device on which everything is right."""
    messages: dict[str, Any] = {name: {"result": RESULT} for name in report.COMPUTED}
    messages["left on the host"] = {"result": {}}
    messages["speed"] = {"result": SPEED}
    messages["optimiser"] = {
        "result": {"layers": 2, "steps": 5, "width": 16, "fast_run": RUN, "fast_compile": RUN}
    }
    return {**messages, **changes}
