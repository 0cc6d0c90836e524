"""Which devices there are, asked of OpenCL's loader and of NVIDIA's driver themselves."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import io
import os
import re

# name: the device's; driver: what drives it; where: how Theano's flag `device` calls it;
# peak: nominal float32 GFLOP/s, or None; is_cpu: whether it is the host's own processor.
Device = collections.namedtuple("Device", "name driver where peak is_cpu")

PLATFORM_NAME, PLATFORM_VERSION = 0x0902, 0x0901
DEVICE_NAME, DRIVER_VERSION, DEVICE_TYPE = 0x102B, 0x102D, 0x1000
ANY_TYPE, CPU_TYPE = 0xFFFFFFFF, 1 << 1
CLOCK_KHZ, PROCESSORS, MAJOR, MINOR = 13, 16, 75, 76
# Float32 units of a multiprocessor, by compute capability; 128 where none is given.
UNITS = {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}


class NoDeviceError(Exception):
    """There is no such device; `fix` says what to install or to pass."""

    def __init__(self, what, fix):
        Exception.__init__(self, what)
        self.fix = fix


def find(asked):
    """Return the Device that the flag `device` names. Raises NoDeviceError."""
    kind = "opencl" if asked.startswith("opencl") else "cuda"
    devices = opencl_devices() if kind == "opencl" else cuda_devices()
    # `cuda` alone is the first that can be used.
    wanted = "cuda0" if asked == "cuda" else asked
    for device in devices:
        if device.where == wanted:
            return device
    there = ", ".join("%s (%s)" % (device.where, device.name) for device in devices)
    raise NoDeviceError(
        "there is no device %s; there is: %s" % (asked, there),
        "pass one that is there: THEANO_FLAGS=device=%s" % devices[0].where,
    )


def opencl_devices():
    """Return every Device of every OpenCL platform. Raises NoDeviceError where there is none."""
    try:
        library = ctypes.CDLL("libOpenCL.so")
    except OSError as error:
        raise NoDeviceError(
            "OpenCL's loader cannot be loaded: %s" % error,
            "install it (Debian, Ubuntu: ocl-icd-opencl-dev), or build the variant gpuarray",
        )
    found = []
    for number, platform in enumerate(_ids(library.clGetPlatformIDs)):
        platform = ctypes.c_void_p(platform)
        maker = "%s, %s" % tuple(
            _text(library.clGetPlatformInfo, platform, what)
            for what in (PLATFORM_NAME, PLATFORM_VERSION)
        )
        kinds = ctypes.c_uint64(ANY_TYPE)
        for place, identity in enumerate(_ids(library.clGetDeviceIDs, platform, kinds)):
            device = ctypes.c_void_p(identity)
            found.append(
                Device(
                    _text(library.clGetDeviceInfo, device, DEVICE_NAME),
                    "%s, driver %s"
                    % (maker, _text(library.clGetDeviceInfo, device, DRIVER_VERSION)),
                    "opencl%d:%d" % (number, place),
                    None,
                    bool(_number(library.clGetDeviceInfo, device, DEVICE_TYPE) & CPU_TYPE),
                )
            )
    if not found:
        raise NoDeviceError("OpenCL's loader finds no device: " + _vendors(), _vendors_fix())
    return found


def _ids(function, *first):
    count = ctypes.c_uint(0)
    if function(*(first + (0, None, ctypes.byref(count)))) != 0 or not count.value:
        return []
    found = (ctypes.c_void_p * count.value)()
    function(*(first + (count, found, None)))
    return list(found)


def _text(function, identity, what):
    room = ctypes.create_string_buffer(1024)
    function(identity, what, ctypes.c_size_t(1024), room, None)
    return room.value.decode("utf-8", "replace").strip()


def _number(function, identity, what):
    number = ctypes.c_uint64(0)
    function(identity, what, ctypes.c_size_t(8), ctypes.byref(number), None)
    return number.value


def _vendors():
    """Say what the loader has to go by, and what is wrong with each."""
    folder = vendors_folder()
    if not os.path.isdir(folder):
        return "%s is no folder" % folder
    names = sorted(name for name in os.listdir(folder) if name.endswith(".icd"))
    said = []
    for name in names:
        with io.open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            library = file.read().strip()
        # The loader has tried it before, and finds libraries by their bare names where we do not.
        if library and os.path.basename(library) in _file("/proc/self/maps"):
            said.append("%s names %s, which is loaded and offers none" % (name, library))
            continue
        try:
            ctypes.CDLL(library)
            said.append("%s names %s, which offers none" % (name, library))
        except OSError as error:
            said.append("%s names %s: %s" % (name, library, error))
    return "; ".join(said) or "there is no .icd file in %s" % folder


def vendors_folder():
    """Return the folder in which OpenCL's loader looks for .icd files."""
    return os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors"


def _vendors_fix():
    return (
        "install an OpenCL (Debian, Ubuntu: pocl-opencl-icd for the processor, or what the maker "
        "of the GPU gives), and let OCL_ICD_VENDORS name the folder that has its .icd file; PoCL "
        "needs a folder that it can write to: POCL_CACHE_DIR"
    )


def cuda_devices():
    """Return every Device of NVIDIA's driver. Raises NoDeviceError where there is none."""
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
    said = "CUDA %d.%d" % (version.value // 1000, version.value % 1000 // 10)
    kernel = re.search(r"Kernel Module\D*([\d.]+)", _file("/proc/driver/nvidia/version"))
    if kernel:
        said += ", driver " + kernel.group(1)
    return [_cuda_device(driver, number, said) for number in range(count.value)]


def _cuda_device(driver, number, said):
    identity, room = ctypes.c_int(0), ctypes.create_string_buffer(256)
    driver.cuDeviceGet(ctypes.byref(identity), number)
    driver.cuDeviceGetName(room, 256, identity)
    values = []
    for attribute in (CLOCK_KHZ, PROCESSORS, MAJOR, MINOR):
        value = ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, identity)
        values.append(value.value)
    clock, processors, major, minor = values
    return Device(
        "%s, compute capability %d.%d" % (room.value.decode("utf-8", "replace"), major, minor),
        said,
        "cuda%d" % number,
        2.0 * clock * processors * UNITS.get((major, minor), 128) / 1e6,
        False,
    )


def _file(path):
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""
