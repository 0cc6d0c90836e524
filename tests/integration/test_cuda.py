"""The variant gpuarray-cuda without a GPU: its libraries, and drivers that are not as they must be.

The driver here is a library of our own: device memory is the host's, and its cuBLAS is two loops.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from integration.checking import compiled, exit_status, look
from integration.conftest import Prefix
from integration.programs import printed, run
from stacks.environments.programs import SUITE


def test_cuda_without_a_driver(prefix: Prefix) -> None:
    place = prefix("theano-1.0.5", "gpuarray-cuda")
    status, detail = look(place)
    assert status == "skip"
    assert "NVIDIA's driver cannot be loaded: libcuda.so.1" in detail
    assert "--gpus all" in detail
    assert exit_status(place) == 3


DRIVER = """
#include <stdlib.h>
#include <string.h>
typedef unsigned long long pointer;
int cuInit(int flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = %d; return 0; }
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


@pytest.mark.parametrize(
    ("version", "capability", "message"),
    [
        (12030, 9, "too old: it is for CUDA 12.3"),
        (13000, 10, "takes compute capability 5.0 to 9.0"),
        (13000, 3, "takes compute capability 5.0 to 9.0"),
    ],
)
def test_a_driver_or_gpu_that_the_environment_cannot_serve(
    prefix: Prefix, tmp_path: Path, version: int, capability: int, message: str
) -> None:
    place = prefix("theano-1.0.5", "gpuarray-cuda")
    compiled(place, tmp_path, "libcuda.so.1", DRIVER % (version, capability), "c")
    status, detail = look(place, LD_LIBRARY_PATH=str(tmp_path))
    assert (status, message in detail) == ("skip", True), detail


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


def test_cublas_is_called_with_the_matrices_in_its_order(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray-cuda")
    compiled(place, tmp_path, "libcuda.so.1", DRIVER % (13000, 9), "c")
    source, library = tmp_path / "cublas.c", tmp_path / "libcublas.so"
    source.write_text(CUBLAS)
    # By its name, which is loaded already, the environment's own is not found.
    flags = ["-shared", "-fPIC", "-Wl,-soname,libcublas.so"]
    subprocess.check_call([place / "bin/gcc", *flags, source, "-o", library])
    output = printed(place, "-c", ALONE, SUITE, library, LD_LIBRARY_PATH=str(tmp_path))
    assert output == "True\nTrue\n"


def test_a_program_does_not_go_on_without_its_device(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray-cuda")
    done = run(place, "-c", "import theano", cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: Theano cannot compute on the device of this env" in done.stderr
    assert "libcuda.so.1: cannot open shared object file" in done.stderr
    assert "During handling" not in done.stderr
    printed(place, "-c", "import theano", cwd=tmp_path, THEANO_FLAGS="device=cpu")


def test_cuda_with_a_driver_that_has_no_gpu(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "gpuarray-cuda")
    compiled(place, tmp_path, "libcuda.so.1", "int cuInit(int flags) { return 100; }", "c")
    status, detail = look(place, LD_LIBRARY_PATH=str(tmp_path))
    assert (status, "offers no GPU (it answers 100)" in detail) == ("skip", True)
    # The name that libgpuarray asks for leads to the same driver.
    program = "import ctypes; print(ctypes.CDLL('libcuda.so').cuInit(0))"
    assert printed(place, "-c", program, LD_LIBRARY_PATH=str(tmp_path)) == "100\n"


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


def test_the_parts_of_cuda_that_libgpuarray_loads(prefix: Prefix) -> None:
    assert printed(prefix("theano-1.0.5", "gpuarray-cuda"), "-c", CUDA_PARTS) == "True\n"
