"""Small reports of workloads, such as verify/workloads writes."""

from typing import Any

from unit.helpers.verification import document

SCAN = "forall_inplace,cpu,walk}"


def row(
    key: str, name: str, seconds: float, calls: int, type_: str, applies: int
) -> dict[str, Any]:
    return {key: name, "seconds": seconds, "calls": calls, "type": type_, "applies": applies}


def tables(name: str, seconds: float, calls: int, type_: str, applies: int = 1) -> dict[str, Any]:
    return {
        "thunk_seconds": seconds,
        "classes": [row("class", f"theano.tensor.blas.{name}", seconds, calls, type_, applies)],
        "ops": [row("op", f"{name}{{inplace}}", seconds, calls, type_, applies)],
        "applies": [
            {
                "apply": f"{name}{{inplace}}(x{number}, y)",
                "id": number,
                "seconds": seconds / applies,
                "calls": calls // applies,
                "type": type_,
            }
            for number in range(applies)
        ],
        "scans": [],
    }


def profile(inner: dict[str, Any], outer: dict[str, Any], *, calls: int = 10) -> dict[str, Any]:
    """Return a profile of calls whose function has one scan; 0.5 s in it are the scan's own."""
    scan_seconds = inner["thunk_seconds"] + 0.5
    found = {key: list(outer[key]) for key in ("classes", "ops", "applies")}
    found["classes"].append(
        row("class", "theano.scan_module.scan_op.Scan", scan_seconds, 10, "Py", 1)
    )
    found["ops"].append(row("op", SCAN, scan_seconds, 10, "Py", 1))
    found["applies"].append(
        {"apply": f"{SCAN}(n, x)", "id": 9, "seconds": scan_seconds, "calls": 10, "type": "Py"}
    )
    thunks = outer["thunk_seconds"] + scan_seconds
    scan = {
        "name": SCAN,
        "signature": "b" * 12,
        "calls": calls,
        "steps": 10 * calls,
        "seconds": scan_seconds,
        "vm_seconds": scan_seconds - 0.4,
        **inner,
    }
    return {
        "calls": calls,
        "seconds": thunks + 0.25,
        "vm_seconds": thunks + 0.1,
        "nodes": 3,
        "thunk_seconds": thunks,
        **found,
        "scans": [scan],
    }


def case(
    profile: dict[str, Any] | None, *, signature: str = "a" * 12, seconds: float = 0.01
) -> dict[str, Any]:
    scan = {"name": SCAN, "signature": "b" * 12, "nodes": 4}
    return {
        "name": "step",
        "shape": {"steps": 10},
        "flops": None,
        "seconds": [seconds, seconds, 2 * seconds],
        "first_call": 0.1,
        "output": 1.5,
        "graph": {"signature": signature, "nodes": 3, "scans": [scan]},
        "compile": {
            "seconds": 4.0,
            "modules": 2,
            "total": 4.0,
            "optimiser": 3.0,
            "validation": 0.1,
            "linker": 1.0,
            "import": 0.2,
        },
        "profile": profile,
    }


def report(*cases: dict[str, Any], variant: str = "openblas", **changes: Any) -> dict[str, Any]:
    verified = document()
    return {
        "schema": 2,
        "workload": "ntm",
        "small": False,
        "fixed_scan": False,
        "dtype": "float32",
        "linker": "cvm",
        "variant": variant,
        "device": None,
        "packages": [{"name": "numpy", "version": "1.22.4", "sha256": "b" * 64}],
        **{key: verified[key] for key in ("framework", "machine", "settings")},
        "cases": list(cases),
        **changes,
    }
