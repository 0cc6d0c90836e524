"""Theano on a device: on PoCL for real, and where the device is not there, hangs or is refused.

CUDA is in test_cuda.py.
"""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from integration.applied_fix import applied
from integration.checking import checked, compiled, exit_status, look
from integration.conftest import Prefix
from integration.programs import printed, result, run
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE

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
    place = prefix("theano-1.0.5", "gpuarray")
    [library] = (place / "lib/pocl/pyopencl/.libs").glob("libpocl-*.so")
    code = (
        "import ctypes, sys; name = ctypes.CDLL(sys.argv[1]).pocl_get_llvm_cpu_name; "
        "name.restype = ctypes.c_char_p; print(name().decode())"
    )
    assert printed(place, "-c", code, library).strip() not in ("", "generic")


def test_pocl_computes_what_the_host_computes(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray")
    kernels = tmp_path / "no-host" / "kernels"
    kernels.mkdir(parents=True)
    found = checked(place, "device steps", *STEPS, POCL_CACHE_DIR=str(kernels))
    details = {check.name: check.detail for check in found}
    assert {check.name for check in found if check.status == "skip"} == NOT_ON_OPENCL
    # The speed depends on what else the machine does.
    failures = [each for each in found if each.status == "fail" and each.name != SPEED]
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
    place = prefix("theano-1.0.5", "gpuarray")
    flags = f"device=cpu,base_compiledir={tmp_path}"
    output = printed(place, "-c", STORE, THEANO_FLAGS=flags)
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
    place = prefix("theano-1.0.5", "gpuarray")
    for found in result(place, "-c", OPTIMISE, SUITE, "fast_run", "fast_compile"):
        assert found["device"] > 20 * sum(found["host"].values())
        assert min(found["graph"]) > 0
        assert min(found["local"]) > 0
        assert "local_gpua_elemwise" in {row["name"] for row in found["rows"] if row["applied"]}


def workload(place: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    program = (SUITE, "workload", "logreg", "--small", "--expect", place / EXPECTATION)
    return run(place, *program, *words, **variables)


def test_a_workload_is_profiled_on_the_device(prefix: Prefix, tmp_path: Path) -> None:
    place, report_file = prefix("theano-1.0.5", "gpuarray"), tmp_path / "report.json"
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
    place = prefix("theano-1.0.5", "gpuarray")
    done = workload(place, OCL_ICD_VENDORS=str(tmp_path))
    assert (done.returncode, "there is no .icd file in" in done.stderr) == (3, True)
    done = workload(place, THEANO_FLAGS="device=cpu")
    assert (done.returncode, "opened cpu instead of opencl0:0" in done.stderr) == (2, True)


def test_no_implementation_of_opencl(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray")
    status, detail = look(place, OCL_ICD_VENDORS=str(tmp_path))
    assert status == "skip"
    assert f"there is no .icd file in {tmp_path}" in detail
    fix = detail.rpartition(": export ")[2]
    assert look(place, **applied(f"export {fix}", {}, tmp_path))[0] == "pass"


def test_an_implementation_that_cannot_be_loaded(prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "broken.icd").write_text("libno-such-opencl.so\n")
    status, detail = look(prefix("theano-1.0.5", "gpuarray"), OCL_ICD_VENDORS=str(tmp_path))
    assert (status, "broken.icd names libno-such-opencl.so" in detail) == ("skip", True)


def test_pocl_without_a_folder_to_write_to(prefix: Prefix, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = prefix("theano-1.0.5", "gpuarray")
    status, detail = look(place, POCL_CACHE_DIR=f"{tmp_path}/file/kernels")
    assert status == "skip"
    assert "pocl.icd names libpocl-21062cec.so, which is loaded and offers none" in detail
    assert detail.endswith(": unset POCL_CACHE_DIR")
    assert look(place)[0] == "pass"


def test_an_implementation_that_hangs(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray")
    hangs = "#include <unistd.h>\n__attribute__((constructor)) void f(void) { for (;;) pause(); }"
    compiled(place, tmp_path, "libhangs.so", hangs, "c")
    (tmp_path / "hangs.icd").write_text(f"{tmp_path}/libhangs.so\n")
    status, detail = look(place, "2", OCL_ICD_VENDORS=str(tmp_path))
    assert (status, "did not answer within 2 s" in detail) == ("skip", True)


def test_a_device_that_is_not_there(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "gpuarray")
    status, detail = look(place, THEANO_FLAGS="device=opencl7:0")
    assert status == "skip"
    assert "there is no device opencl7:0; there is: opencl0:0 (pthread-" in detail
    name, _, value = detail.rpartition("use an available one: ")[2].partition("=")
    assert look(place, **{name: value})[0] == "pass"


@pytest.mark.parametrize(("folder", "status"), [("etc/OpenCL/vendors", 0), ("none", 3)])
def test_the_exit_status(prefix: Prefix, folder: str, status: int) -> None:
    place = prefix("theano-1.0.5", "gpuarray")
    assert exit_status(place, OCL_ICD_VENDORS=str(place / folder)) == status
