"""Theano on a device: on PoCL for real, and where the device is not there, hangs or is refused.

CUDA is in test_cuda.py.
"""

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from integration.applied_fix import applied
from integration.conftest import Prefix
from integration.devices import EXPECTATION, FRAMEWORK, SUITE, compile_library, drive, look

# The others compile for half a minute more, and look at nothing else.
STEPS = (
    "Gemm",
    "elementwise",
    "reduce",
    "softmax",
    "convolution",
    "scan",
    "left on the host",
    "speed",
)
# What Theano 1.0.5 and pygpu cannot do on OpenCL: see docs/guides/gpu.md.
NOT_ON_OPENCL = {"device: scan", "device: left on the host"}
SPEED = "device: Gemm speed"


def test_pocl_names_a_processor_that_llvm_knows(prefix: Prefix) -> None:
    """LLVM calls those that are newer than itself "generic", which its compiler refuses."""
    place = prefix(FRAMEWORK, "gpuarray")
    [library] = (place / "lib/pocl/pyopencl/.libs").glob("libpocl-*.so")
    code = (
        "import ctypes, sys; name = ctypes.CDLL(sys.argv[1]).pocl_get_llvm_cpu_name; "
        "name.restype = ctypes.c_char_p; print(name().decode())"
    )
    words: list[str | Path] = [place / "bin/python", "-c", code, library]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.strip() not in ("", "generic")


def test_pocl_computes_what_the_host_computes(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    kernels = tmp_path / "no-host" / "kernels"
    kernels.mkdir(parents=True)
    found = json.loads(drive(place, "compute", *STEPS, POCL_CACHE_DIR=str(kernels)))
    details = {name: detail for name, _, detail in found}
    assert {name for name, status, _ in found if status == "skip"} == NOT_ON_OPENCL
    # The speed depends on what else the machine does.
    failures = [each for each in found if each[1] == "fail" and each[0] != SPEED]
    assert not failures
    assert "GpuGemm 1; transfers: 3 to, 1 from" in details["device: Gemm"]
    assert "GpuCorrMM 1" in details["device: convolution"]
    assert "This is for CUDA arrays" in details["device: scan"]
    assert "Argmax" in details["device: left on the host"]
    assert "libclblast.so" in details[SPEED]
    assert list(kernels.rglob("*.so")), "kernels are cached"


STORE = """
import theano, theano_stacks_cache
for _ in range(2):
    x = theano.tensor.dvector("x")
    theano.function([x], 3 * x + 4 * x, mode=theano.Mode(linker="py"))
print(theano_stacks_cache.found)
"""


def test_graphs_are_stored_though_theano_uses_functions_of_pygpu(
    prefix: Prefix, tmp_path: Path
) -> None:
    """Theano imports them when it optimises its first graph."""
    place = prefix(FRAMEWORK, "gpuarray")
    flags = f"device=cpu,base_compiledir={tmp_path}"
    words: list[str | Path] = [place / "bin/python", "-c", STORE]
    output = subprocess.check_output(words, env={**os.environ, "THEANO_FLAGS": flags}, text=True)
    assert output == "{'hits': 1, 'kept': 1, 'not kept': 0}\n"


OPTIMISE = """
import json, sys, types
sys.modules["verify"] = types.ModuleType("verify")
sys.modules["verify"].__path__ = [sys.argv[1]]
from verify.device import optimiser as device_optimiser
found = [device_optimiser.run(*device_optimiser.stack(1, 2), tag=tag) for tag in sys.argv[2:]]
print(json.dumps(found))
"""


def test_a_recurrent_network_is_moved_to_the_device(prefix: Prefix) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    words: list[str | Path] = [place / "bin/python", "-c", OPTIMISE, SUITE]
    output = subprocess.check_output([*words, "fast_run", "fast_compile"])
    for run in json.loads(output.splitlines()[-1]):
        assert run["device"] > 20 * sum(run["host"].values())
        assert min(run["graph"]) > 0
        assert min(run["local"]) > 0
        assert "local_gpua_elemwise" in {row["name"] for row in run["rows"] if row["applied"]}


def workload(place: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    program: list[str | Path] = [place / "bin/python", SUITE, "workload", "logreg", "--small"]
    return subprocess.run(
        [*program, "--expect", place / EXPECTATION, *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_a_workload_is_profiled_on_the_device(prefix: Prefix, tmp_path: Path) -> None:
    place, report_file = prefix(FRAMEWORK, "gpuarray"), tmp_path / "report.json"
    done = workload(place, "--calls", "3", "--json", report_file)
    assert done.returncode == 0, done.stderr
    assert "each call waits for the device, in the profile each node" in done.stdout
    report = json.loads(report_file.read_text())
    jsonschema.validate(report, json.loads((SUITE / "workloads/report.schema.json").read_text()))
    assert report["device"]["where"] == "opencl0:0"
    (case,) = report["cases"]
    assert (case["places"]["host"], case["places"]["from_device"]) == ({}, 1)
    assert case["profile"]["calls"] == 3


def test_a_workload_without_its_device_is_not_run_on_the_host(
    prefix: Prefix, tmp_path: Path
) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    done = workload(place, OCL_ICD_VENDORS=str(tmp_path))
    assert (done.returncode, "there is no .icd file in" in done.stderr) == (3, True)
    done = workload(place, THEANO_FLAGS="device=cpu")
    assert (done.returncode, "opened cpu instead of opencl0:0" in done.stderr) == (2, True)


def test_no_implementation_of_opencl(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    status, detail = look(place, OCL_ICD_VENDORS=str(tmp_path))
    assert status == "skip"
    assert f"there is no .icd file in {tmp_path}" in detail
    fix = detail.rpartition(": export ")[2]
    assert look(place, **applied(f"export {fix}", {}, tmp_path))[0] == "pass"


def test_an_implementation_that_cannot_be_loaded(prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "broken.icd").write_text("libno-such-opencl.so\n")
    status, detail = look(prefix(FRAMEWORK, "gpuarray"), OCL_ICD_VENDORS=str(tmp_path))
    assert (status, "broken.icd names libno-such-opencl.so" in detail) == ("skip", True)


def test_pocl_without_a_folder_to_write_to(prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = prefix(FRAMEWORK, "gpuarray")
    status, detail = look(place, POCL_CACHE_DIR=f"{tmp_path}/file/kernels")
    assert status == "skip"
    assert "pocl.icd names libpocl-21062cec.so, which is loaded and offers none" in detail
    assert detail.endswith(": unset POCL_CACHE_DIR")
    assert look(place)[0] == "pass"


def test_an_implementation_that_hangs(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    hangs = "#include <unistd.h>\n__attribute__((constructor)) void f(void) { for (;;) pause(); }"
    compile_library(place, tmp_path / "libhangs.so", hangs)
    (tmp_path / "hangs.icd").write_text(f"{tmp_path}/libhangs.so\n")
    status, detail = look(place, "2", OCL_ICD_VENDORS=str(tmp_path))
    assert (status, "did not answer within 2 s" in detail) == ("skip", True)


def test_a_device_that_is_not_there(prefix: Prefix) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    status, detail = look(place, THEANO_FLAGS="device=opencl7:0")
    assert status == "skip"
    assert "there is no device opencl7:0; there is: opencl0:0 (pthread-" in detail
    name, _, value = detail.rpartition("use an available one: ")[2].partition("=")
    assert look(place, **{name: value})[0] == "pass"


@pytest.mark.parametrize(("folder", "status"), [("etc/OpenCL/vendors", "0"), ("none", "3")])
def test_the_exit_status(prefix: Prefix, folder: str, status: str) -> None:
    place = prefix(FRAMEWORK, "gpuarray")
    assert drive(place, "program", OCL_ICD_VENDORS=str(place / folder)) == status
