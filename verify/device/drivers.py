"""List the devices of OpenCL's loader and of NVIDIA's driver, by their C interfaces."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import io
import os
import re
import sys

from verify.core.variables import quote

# where: its name in Theano's flag `device`; peak: nominal float32 GFLOP/s, or None; is_cpu: whether
# it is the host's own processor.
Device = collections.namedtuple("Device", "name driver where peak is_cpu")

# Constants of OpenCL's cl.h and of CUDA's cuda.h.
PLATFORM_NAME, PLATFORM_VERSION = 0x0902, 0x0901
DEVICE_NAME, DRIVER_VERSION, DEVICE_TYPE = 0x102B, 0x102D, 0x1000
ANY_TYPE, CPU_TYPE = 0xFFFFFFFF, 1 << 1
CLOCK_KHZ, PROCESSORS, MAJOR, MINOR = 13, 16, 75, 76
# Float32 units of a multiprocessor by compute capability (CUDA C++ Programming Guide, arithmetic
# instructions); 128 for all others.
UNITS = {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}


class NoDeviceError(Exception):
    """There is no such device; `fix` says what to install or to pass."""

    def __init__(self, message, fix):
        Exception.__init__(self, message)
        self.fix = fix


def find(name):
    """Return the Device of a value of Theano's flag `device`. Raises NoDeviceError."""
    devices = opencl_devices() if name.startswith("opencl") else cuda_devices()
    # `cuda` stands for the first one.
    where = "cuda0" if name == "cuda" else name
    for device in devices:
        if device.where == where:
            return device
    available = ", ".join("%s (%s)" % (device.where, device.name) for device in devices)
    raise NoDeviceError(
        "there is no device %s; there is: %s" % (name, available),
        "use an available one: THEANO_FLAGS=device=%s" % devices[0].where,
    )


def opencl_devices():
    """Return the Devices of all OpenCL platforms. Raises NoDeviceError if there are none."""
    try:
        library = ctypes.CDLL("libOpenCL.so")
    except OSError as error:
        raise NoDeviceError(
            "OpenCL's loader cannot be loaded: %s" % error,
            "install it (Debian, Ubuntu: ocl-icd-opencl-dev), or build the variant gpuarray",
        )
    devices = []
    for number, platform in enumerate(_ids(library.clGetPlatformIDs)):
        platform = ctypes.c_void_p(platform)
        vendor = "%s, %s" % tuple(
            _text(library.clGetPlatformInfo, platform, key)
            for key in (PLATFORM_NAME, PLATFORM_VERSION)
        )
        kinds = ctypes.c_uint64(ANY_TYPE)
        for index, identity in enumerate(_ids(library.clGetDeviceIDs, platform, kinds)):
            device = ctypes.c_void_p(identity)
            devices.append(
                Device(
                    _text(library.clGetDeviceInfo, device, DEVICE_NAME),
                    "%s, driver %s"
                    % (vendor, _text(library.clGetDeviceInfo, device, DRIVER_VERSION)),
                    "opencl%d:%d" % (number, index),
                    None,
                    bool(_number(library.clGetDeviceInfo, device, DEVICE_TYPE) & CPU_TYPE),
                )
            )
    if not devices:
        raise NoDeviceError("OpenCL's loader finds no device: " + _vendors(), _vendors_fix())
    return devices


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


def _number(function, identity, key):
    number = ctypes.c_uint64(0)
    function(identity, key, ctypes.c_size_t(8), ctypes.byref(number), None)
    return number.value


def _vendors():
    """Return what is wrong with each .icd file, which tell the loader what to load."""
    folder = os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors"
    if not os.path.isdir(folder):
        return "%s is no folder" % folder
    names = sorted(name for name in os.listdir(folder) if name.endswith(".icd"))
    results = []
    for name in names:
        with io.open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            library = file.read().strip()
        # The loader may find a library by its bare name where CDLL does not.
        if library and os.path.basename(library) in _file("/proc/self/maps"):
            results.append("%s names %s, which is loaded and offers none" % (name, library))
            continue
        try:
            ctypes.CDLL(library)
            results.append("%s names %s, which offers none" % (name, library))
        except OSError as error:
            results.append("%s names %s: %s" % (name, library, error))
    return "; ".join(results) or "there is no .icd file in %s" % folder


def _vendors_fix():
    cache = os.environ.get("POCL_CACHE_DIR")
    if cache and not _can_be_written(cache):
        return "PoCL cannot write to POCL_CACHE_DIR: unset POCL_CACHE_DIR"
    own = os.path.join(sys.prefix, "etc", "OpenCL", "vendors")
    if os.path.isdir(own) and os.environ.get("OCL_ICD_VENDORS", own) != own:
        return "this environment has an OpenCL of its own: export OCL_ICD_VENDORS=" + quote(own)
    return (
        "install an OpenCL (Debian, Ubuntu: pocl-opencl-icd for the processor; for a GPU that of "
        "its vendor), and set OCL_ICD_VENDORS to the folder of its .icd file"
    )


def _can_be_written(folder):
    """Return whether a folder, or the nearest one above it that exists, can be written."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(os.path.abspath(folder))
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def cuda_devices():
    """Return the Devices of NVIDIA's driver. Raises NoDeviceError if there are none."""
    fix = (
        "install NVIDIA's driver (`nvidia-smi` must show the GPU); a container needs the NVIDIA "
        "container toolkit and `docker run --gpus all`; without a GPU use the variant gpuarray"
    )
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NoDeviceError("NVIDIA's driver cannot be loaded: %s" % error, fix)
    status = driver.cuInit(0)
    count, version = ctypes.c_int(0), ctypes.c_int(0)
    if status == 0:
        driver.cuDriverGetVersion(ctypes.byref(version))
        status = driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or not count.value:
        raise NoDeviceError("NVIDIA's driver offers no GPU (it answers %d)" % status, fix)
    text = "CUDA %d.%d" % (version.value // 1000, version.value % 1000 // 10)
    kernel = re.search(r"Kernel Module\D*([\d.]+)", _file("/proc/driver/nvidia/version"))
    if kernel:
        text += ", driver " + kernel.group(1)
    return [_cuda_device(driver, number, text) for number in range(count.value)]


def _cuda_device(driver, number, driver_text):
    identity, name = ctypes.c_int(0), ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(identity), number)
    driver.cuDeviceGetName(name, 256, identity)
    values = []
    for attribute in (CLOCK_KHZ, PROCESSORS, MAJOR, MINOR):
        value = ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, identity)
        values.append(value.value)
    clock, processors, major, minor = values
    return Device(
        "%s, compute capability %d.%d" % (name.value.decode("utf-8", "replace"), major, minor),
        driver_text,
        "cuda%d" % number,
        # A fused multiply-add per unit and clock.
        2.0 * clock * processors * UNITS.get((major, minor), 128) / 1e6,
        False,
    )


def _file(path):
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""
