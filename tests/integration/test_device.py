"""Theano on a device: on PoCL for real, and where the device is not there, hangs or is refused.

CUDA is tried without a GPU: the driver is a library of the tests, in which device memory is the
host's and cuBLAS is two loops.
"""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from integration.checking import DRIVER, applied, checked, compiled
from integration.conftest import Prefix
from integration.programs import printed, result, run
from stacks.environments.make.settings import EXPECTATION
from stacks.environments.programs import SUITE

# The others compile for half a minute more, and look at nothing else.
STEPS = (
    *("Gemm", "elementwise", "reduce", "softmax", "convolution", "scan"),
    *("left on the host", "speed"),
)
# What Theano 1.0.5 and pygpu cannot do on OpenCL: see docs/guides/gpu.md.
NOT_ON_OPENCL = {"device: scan", "device: left on the host"}
SPEED = "device: Gemm speed"


@pytest.fixture
def pocl(prefix: Prefix) -> Path:
    return prefix("theano-1.0.5", "gpuarray")


@pytest.fixture
def cuda(prefix: Prefix) -> Path:
    return prefix("theano-1.0.5", "gpuarray-cuda")


def look(place: Path, *words: str, **variables: str) -> tuple[str, str]:
    """Return the status and the detail of the check that the device is there."""
    [check] = checked(place, "device", *words, **variables)
    assert check.name == "device"
    return check.status, check.detail


def exit_status(place: Path, **variables: str) -> int:
    """Return that of the suite where the device is all that it looks at."""
    words = (DRIVER, SUITE, place / EXPECTATION, "device program")
    status: int = result(place, *words, **variables)
    return status


def test_pocl_computes_what_the_host_computes(pocl: Path, tmp_path: Path) -> None:
    kernels = tmp_path / "no-host" / "kernels"
    kernels.mkdir(parents=True)
    found = checked(pocl, "device steps", *STEPS, POCL_CACHE_DIR=str(kernels))
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
    pocl: Path, tmp_path: Path
) -> None:
    """Theano imports them when it optimises its first graph."""
    output = printed(pocl, "-c", STORE, THEANO_FLAGS=f"device=cpu,base_compiledir={tmp_path}")
    assert output == "{'hits': 1, 'kept': 1, 'not kept': 0}\n"


def test_a_workload_is_profiled_on_the_device(pocl: Path, tmp_path: Path) -> None:
    report_file = tmp_path / "report.json"
    words = ("--small", "--calls", "3", "--expect", pocl / EXPECTATION, "--json", report_file)
    done = run(pocl, SUITE, "workload", "logreg", *words)
    assert done.returncode == 0, done.stderr
    assert "each call waits for the device, in the profile each node" in done.stdout
    report = json.loads(report_file.read_text())
    jsonschema.validate(report, json.loads((SUITE / "workloads/report.schema.json").read_text()))
    assert report["device"]["where"] == "opencl0:0"
    (case,) = report["cases"]
    assert (case["places"]["host"], case["places"]["from_device"]) == ({}, 1)
    assert case["profile"]["calls"] == 3


# {folder}: a folder of the test. `fix`: what the detail leads to, as variables.
@pytest.mark.parametrize(
    ("variables", "files", "message", "fix"),
    [
        ({"OCL_ICD_VENDORS": "{folder}"}, {}, "there is no .icd file in {folder}", "export"),
        (
            {"OCL_ICD_VENDORS": "{folder}"},
            {"broken.icd": "libno-such-opencl.so\n"},
            "broken.icd names libno-such-opencl.so",
            "",
        ),
        (
            {"POCL_CACHE_DIR": "{folder}/file/kernels"},
            {"file": ""},
            "pocl.icd names libpocl-21062cec.so, which is loaded and offers none",
            "unset POCL_CACHE_DIR",
        ),
        (
            {"THEANO_FLAGS": "device=opencl7:0"},
            {},
            "there is no device opencl7:0; there is: opencl0:0 (pthread-",
            "use an available one",
        ),
    ],
)
def test_a_device_that_is_not_there(
    pocl: Path, tmp_path: Path, variables: dict[str, str], files: dict[str, str], message: str,
    fix: str,
) -> None:  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    variables = {name: value.format(folder=tmp_path) for name, value in variables.items()}
    status, detail = look(pocl, **variables)
    assert (status, message.format(folder=tmp_path) in detail) == ("skip", True), detail
    if not fix:
        return
    assert fix in detail
    if fix == "export":
        variables = applied(f"export {detail.rpartition(': export ')[2]}", {}, tmp_path)
    else:
        name, equals, value = detail.rpartition(": ")[2].partition("=")
        variables = {name: value} if equals else {}
    assert look(pocl, **variables)[0] == "pass"


def test_an_implementation_that_hangs(pocl: Path, tmp_path: Path) -> None:
    hangs = "#include <unistd.h>\n__attribute__((constructor)) void f(void) { for (;;) pause(); }"
    compiled(pocl, tmp_path, "libhangs.so", hangs, "c")
    (tmp_path / "hangs.icd").write_text(f"{tmp_path}/libhangs.so\n")
    status, detail = look(pocl, "2", OCL_ICD_VENDORS=str(tmp_path))
    assert (status, "did not answer within 2 s" in detail) == ("skip", True)


@pytest.mark.parametrize(("folder", "status"), [("etc/OpenCL/vendors", 0), ("none", 3)])
def test_the_exit_status(pocl: Path, folder: str, status: int) -> None:
    assert exit_status(pocl, OCL_ICD_VENDORS=str(pocl / folder)) == status


def test_a_program_does_not_go_on_without_a_driver(cuda: Path, tmp_path: Path) -> None:
    status, detail = look(cuda)
    assert status == "skip"
    assert "NVIDIA's driver cannot be loaded: libcuda.so.1" in detail
    assert "--gpus all" in detail
    assert exit_status(cuda) == 3
    done = run(cuda, "-c", "import theano", cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: Theano cannot compute on the device of this env" in done.stderr
    assert "libcuda.so.1: cannot open shared object file" in done.stderr
    assert "During handling" not in done.stderr
    printed(cuda, "-c", "import theano", cwd=tmp_path, THEANO_FLAGS="device=cpu")


NVIDIAS = """
#include <stdlib.h>
#include <string.h>
typedef unsigned long long pointer;
int cuInit(int flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "GPU", size); return 0; }
int cuDeviceGetAttribute(int *value, int name, int device) {
  *value = name == 75 ? %d : name == 76 ? 0 : 1000; return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = "x"; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(pointer *p, size_t size) { *p = (pointer) malloc(size); return 0; }
int cuMemFree_v2(pointer p) { free((void *) p); return 0; }
int cuMemcpyHtoD_v2(pointer p, void *from, size_t n) { memcpy((void *) p, from, n); return 0; }
"""


def test_a_gpu_that_the_environment_cannot_serve(cuda: Path, tmp_path: Path) -> None:
    compiled(cuda, tmp_path, "libcuda.so.1", NVIDIAS % 10, "c")
    status, detail = look(cuda, LD_LIBRARY_PATH=str(tmp_path))
    assert status == "skip" and "takes compute capability 5.0 to 9.0" in detail, detail
    # The name that libgpuarray asks for leads to the same driver.
    program = "import ctypes; print(ctypes.CDLL('libcuda.so').cuInit(0))"
    assert int(printed(cuda, "-c", program, LD_LIBRARY_PATH=str(tmp_path))) == 0


CUBLAS = """
int cublasCreate_v2(void **handle) { *handle = "x"; return 0; }
int cublasDestroy_v2(void *handle) { return 0; }
#define GEMM(NAME, T) int NAME(void *h, int ta, int tb, int m, int n, int k, T *alpha, T *a, \\
    int lda, T *b, int ldb, T *beta, T *c, int ldc) { \\
  int i, j, l; \\
  for (i = 0; i < m; i++) for (j = 0; j < n; j++) { \\
    T sum = 0; \\
    for (l = 0; l < k; l++) sum += a[i + l * lda] * b[l + j * ldb]; \\
    c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc]; \\
  } \\
  return 0; \\
}
GEMM(cublasSgemm_v2, float)
GEMM(cublasDgemm_v2, double)
"""
ALONE = """
import ctypes, numpy, sys, types
sys.modules["verify"] = types.ModuleType("verify")
sys.modules["verify"].__path__ = [sys.argv[1]]
ctypes.CDLL(sys.argv[2])
from verify.device import cublas
for dtype, kind in (("float32", ctypes.c_float), ("float64", ctypes.c_double)):
    random = numpy.random.RandomState(0)
    a, b, c = (random.rand(7, 7).astype(dtype) for _ in range(3))
    product = cublas.Product(0, a, b, c)
    assert product.seconds(1) > 0
    found = (kind * 49).from_address(product._matrices[2].value)
    print(abs(numpy.reshape(found, (7, 7)) - (0.8 * a.dot(b) + 0.4 * c)).max() < 1e-6)
    product.close()
"""


def test_cublas_is_called_with_the_matrices_in_its_order(cuda: Path, tmp_path: Path) -> None:
    compiled(cuda, tmp_path, "libcuda.so.1", NVIDIAS % 9, "c")
    source, library = tmp_path / "cublas.c", tmp_path / "libcublas.so"
    source.write_text(CUBLAS)
    # By its name, which is loaded already, the environment's own is not found.
    flags = ["-shared", "-fPIC", "-Wl,-soname,libcublas.so"]
    subprocess.check_call([cuda / "bin/gcc", *flags, source, "-o", library])
    output = printed(cuda, "-c", ALONE, SUITE, library, LD_LIBRARY_PATH=str(tmp_path))
    assert output == "True\nTrue\n"


# Needs no GPU: what libgpuarray looks up by these names, and a kernel of its own for a Hopper GPU.
CUDA_PARTS = """
import ctypes
blas, compiler = ctypes.CDLL("libcublas.so"), ctypes.CDLL("libnvrtc.so")
for name in ("Create", "SetStream", "Sgemm", "Dgemm", "Sgemv", "Sger", "Sdot"):
    getattr(blas, "cublas%s_v2" % name)
blas.cublasSgemmStridedBatched
source = b'extern "C" __global__ void f(float *x) { x[threadIdx.x] *= 2; }'
program, size = ctypes.c_void_p(), ctypes.c_size_t()
compiler.nvrtcCreateProgram(ctypes.byref(program), source, None, 0, None, None)
options = (ctypes.c_char_p * 2)(b"-arch", b"compute_90")
assert compiler.nvrtcCompileProgram(program, 2, options) == 0
compiler.nvrtcGetPTXSize(program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
compiler.nvrtcGetPTX(program, text)
print(".target sm_90" in text.value.decode())
"""


def test_the_parts_of_cuda_that_libgpuarray_loads(cuda: Path) -> None:
    assert printed(cuda, "-c", CUDA_PARTS) == "True\n"
