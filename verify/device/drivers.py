"""List the devices of NVIDIA's driver, and what compiles for them; those of OpenCL's loader."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import re
import sys

from verify.core.framework import FrameworkError
from verify.core.machine import read_text
from verify.core.surroundings import matching, quote

# where: its name in Theano's flag `device`; peaks: {precision: nominal GFLOP/s}, where known;
# is_cpu: whether it is the host's own processor.
Device = collections.namedtuple("Device", "name driver where peaks is_cpu")

# Attributes of a device in CUDA's cuda.h.
CLOCK_KHZ, PROCESSORS, MAJOR, MINOR = 13, 16, 75, 76
# Fused multiply-adds of a multiprocessor in a clock, by compute capability (CUDA C++ Programming
# Guide, arithmetic instructions); all others: OTHER. Float64 on 8.0 and 9.0: of the tensor cores,
# which cuBLAS uses for it.
UNITS = {
    "float32": {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64},
    "float64": {
        (5, 0): 4, (5, 2): 4, (5, 3): 4, (6, 0): 32, (6, 1): 4, (6, 2): 4, (7, 0): 32, (7, 2): 32,
        (8, 0): 64, (9, 0): 128,
    },
}  # fmt: skip
OTHER = {"float32": 128, "float64": 2}
# Constants of OpenCL's cl.h.
PLATFORM_NAME, PLATFORM_VERSION = 0x0902, 0x0901
DEVICE_NAME, DRIVER_VERSION, DEVICE_TYPE = 0x102B, 0x102D, 0x1000
ANY_TYPE, CPU_TYPE = 0xFFFFFFFF, 1 << 1
# nvrtc's version and the compute capabilities that it compiles for, as (least, most).
Compiler = collections.namedtuple("Compiler", "version least most")
# libgpuarray 0.7.6 names an architecture with two digits (detect_arch in gpuarray_buffer_cuda.c).
MOST_OF_LIBGPUARRAY = (9, 9)
INSTALLATION = (
    "install NVIDIA's driver (`nvidia-smi` must show the GPU); a container needs the NVIDIA "
    "container toolkit and `docker run --gpus all`; without a GPU use the variant gpuarray"
)


def cuda_devices():
    """Return the Devices of NVIDIA's driver.

    Raises FrameworkError if there are none, or if the driver is older than the compiler of the
    environment, whose kernels it cannot read then.
    """
    driver = _driver()
    count, version, text = _count(driver), _version(driver), _described(driver)
    compiler = nvrtc()
    if compiler and version < compiler.version:
        raise FrameworkError(
            "NVIDIA's driver is too old: it is for %s, and cannot read the kernels that nvrtc "
            "%d.%d compiles" % ((text,) + compiler.version),
            "install a driver for CUDA %d.%d or newer" % compiler.version,
        )
    for name, numbers in (("nvrtc", compiler and compiler.version), ("cuBLAS", cublas_version())):
        if numbers:
            text += ", %s %s" % (name, ".".join(map(str, numbers)))
    return [_device(driver, number, text) for number in range(count)]


def cuda_device(number):
    """Return the Device of a number, for a program with a compiler and a BLAS of its own.

    Raises FrameworkError if there is none.
    """
    driver = _driver()
    if number >= _count(driver):
        raise FrameworkError("there is no device cuda%d" % number, "use an available one")
    return _device(driver, number, _described(driver))


def cuda_number_opened():
    """Return the number of the GPU that Theano has opened: of several, the first that it can."""
    import theano

    # Its PCI bus, such as `0000:00:06.0`.
    bus = str(theano.gpuarray.get_context(None).unique_id)
    status, number = _result(_driver().cuDeviceGetByPCIBusId, bus.encode("ascii"))
    if status != 0:
        raise FrameworkError("NVIDIA's driver has no GPU at %s" % bus, INSTALLATION)
    return number


def _result(function, *more):
    """Return (status, number) of a function that writes a number to its first argument."""
    number = ctypes.c_int(0)
    status = function(ctypes.byref(number), *more)
    return status, number.value


def _version(driver):
    _, version = _result(driver.cuDriverGetVersion)
    return version // 1000, version % 1000 // 10


def _described(driver):
    # `NVIDIA UNIX x86_64 Kernel Module  550.54.15`, `Open Kernel Module for x86_64  580.159.04`.
    kernel = re.search(
        r"Kernel Module\b.*?\s(\d+\.[\d.]+)", read_text("/proc/driver/nvidia/version")
    )
    return "CUDA %d.%d" % _version(driver) + (", driver " + kernel.group(1) if kernel else "")


def _driver():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise FrameworkError("NVIDIA's driver cannot be loaded: %s" % error, INSTALLATION)


def _count(driver):
    status, count = driver.cuInit(0), 0
    if status == 0:
        status, count = _result(driver.cuDeviceGetCount)
    if status == 0 and count:
        return count
    message, fix = "NVIDIA's driver offers no GPU (it answers %d)" % status, INSTALLATION
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        message += ": CUDA_VISIBLE_DEVICES=%s hides those that it does not name" % visible
        fix = "unset CUDA_VISIBLE_DEVICES"
    raise FrameworkError(message, fix)


def nvrtc():
    """Return the Compiler of the library that libgpuarray opens, None if there is none."""
    try:
        library = ctypes.CDLL("libnvrtc.so")
        major, minor, count = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0)
        library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        library.nvrtcGetSupportedArchs(numbers)
    except (OSError, AttributeError):
        # Before CUDA 11.2 it has no list of architectures.
        return None
    pairs = [divmod(number, 10) for number in numbers]
    return Compiler((major.value, minor.value), min(pairs), max(pairs))


def cublas_version():
    """Return the version of the cuBLAS that libgpuarray opens, None if there is none."""
    try:
        library = ctypes.CDLL("libcublas.so")
        values = [ctypes.c_int(0) for _ in range(3)]
        for part, value in enumerate(values):
            library.cublasGetProperty(part, ctypes.byref(value))
    except (OSError, AttributeError):
        return None
    return tuple(value.value for value in values)


def _device(driver, number, driver_text):
    name, (_, identity) = ctypes.create_string_buffer(256), _result(driver.cuDeviceGet, number)
    driver.cuDeviceGetName(name, 256, identity)
    clock, processors, major, minor = (
        _result(driver.cuDeviceGetAttribute, attribute, identity)[1]
        for attribute in (CLOCK_KHZ, PROCESSORS, MAJOR, MINOR)
    )
    text = "%s, compute capability %d.%d" % (name.value.decode("utf-8", "replace"), major, minor)
    # Two operations each.
    clocks = 2.0 * clock * processors / 1e6
    peaks = {
        dtype: clocks * units.get((major, minor), OTHER[dtype]) for dtype, units in UNITS.items()
    }
    return Device(text, driver_text, "cuda%d" % number, peaks, False)


def check_capability(device):
    """Raise FrameworkError for a Device that the environment cannot compile for."""
    compiler, capability = nvrtc(), re.search(r"capability (\d+)\.(\d+)$", device.name)
    if not (compiler and capability):
        return
    most = min(compiler.most, MOST_OF_LIBGPUARRAY)
    if not compiler.least <= tuple(map(int, capability.groups())) <= most:
        raise FrameworkError(
            "%s is no GPU that kernels can be compiled for here: that takes compute capability "
            "%d.%d to %d.%d" % ((device.name,) + compiler.least + most),
            "use a GPU of that range, or the variant gpuarray with the GPU's own OpenCL",
        )


def opencl_devices():
    """Return the Devices of all OpenCL platforms. Raises FrameworkError if there are none."""
    try:
        library = ctypes.CDLL("libOpenCL.so")
    except OSError as error:
        raise FrameworkError(
            "OpenCL's loader cannot be loaded: %s" % error,
            "install it (Debian, Ubuntu: ocl-icd-opencl-dev), or build the variant gpuarray",
        )
    found = []
    for number, platform in enumerate(_ids(library.clGetPlatformIDs)):
        platform = ctypes.c_void_p(platform)
        vendor = [
            _text(library.clGetPlatformInfo, platform, key)
            for key in (PLATFORM_NAME, PLATFORM_VERSION)
        ]
        kinds = ctypes.c_uint64(ANY_TYPE)
        for index, identity in enumerate(_ids(library.clGetDeviceIDs, platform, kinds)):
            device, kind, get = (
                ctypes.c_void_p(identity),
                ctypes.c_uint64(0),
                library.clGetDeviceInfo,
            )
            get(device, DEVICE_TYPE, ctypes.c_size_t(8), ctypes.byref(kind), None)
            driver = "%s, driver %s" % (", ".join(vendor), _text(get, device, DRIVER_VERSION))
            where, is_cpu = "opencl%d:%d" % (number, index), bool(kind.value & CPU_TYPE)
            found.append(Device(_text(get, device, DEVICE_NAME), driver, where, {}, is_cpu))
    if not found:
        raise FrameworkError("OpenCL's loader finds no device: " + _vendors(), _vendors_fix())
    return found


def _ids(function, *first):
    count = ctypes.c_uint(0)
    if function(*(first + (0, None, ctypes.byref(count)))) != 0 or not count.value:
        return []
    ids = (ctypes.c_void_p * count.value)()
    function(*(first + (count, ids, None)))
    return list(ids)


def _text(function, identity, key):
    buffer = ctypes.create_string_buffer(1024)
    function(identity, key, ctypes.c_size_t(1024), buffer, None)
    return buffer.value.decode("utf-8", "replace").strip()


def _vendors():
    """Return what is wrong with each .icd file, which tell the loader what to load."""
    folder = os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors"
    if not os.path.isdir(folder):
        return "%s is no folder" % folder
    results = []
    for path in matching(folder, "*.icd"):
        library, fault = read_text(path).strip(), ", which offers none"
        # The loader may find a library by its bare name where CDLL does not.
        if library and os.path.basename(library) in read_text("/proc/self/maps"):
            fault = ", which is loaded and offers none"
        else:
            try:
                ctypes.CDLL(library)
            except OSError as error:
                fault = ": %s" % error
        results.append("%s names %s%s" % (os.path.basename(path), library, fault))
    return "; ".join(results) or "there is no .icd file in %s" % folder


def _vendors_fix():
    cache = os.environ.get("POCL_CACHE_DIR")
    while cache and not os.path.lexists(cache):
        # The nearest folder above it that exists.
        cache = os.path.dirname(os.path.abspath(cache))
    if cache and not (os.path.isdir(cache) and os.access(cache, os.W_OK)):
        return "PoCL cannot write to POCL_CACHE_DIR: unset POCL_CACHE_DIR"
    own = os.path.join(sys.prefix, "etc", "OpenCL", "vendors")
    if os.path.isdir(own) and os.environ.get("OCL_ICD_VENDORS", own) != own:
        return "this environment has an OpenCL of its own: export OCL_ICD_VENDORS=" + quote(own)
    return (
        "install an OpenCL (Debian, Ubuntu: pocl-opencl-icd for the processor; for a GPU that of "
        "its vendor), and set OCL_ICD_VENDORS to the folder of its .icd file"
    )
