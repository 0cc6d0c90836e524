"""List the devices of OpenCL's loader, by its C interface."""

from __future__ import absolute_import, division, print_function

import ctypes
import io
import os
import sys

from verify.core.machine import text_of
from verify.core.surroundings import quote
from verify.device.description import Device, NoDeviceError

# Constants of OpenCL's cl.h.
PLATFORM_NAME, PLATFORM_VERSION = 0x0902, 0x0901
DEVICE_NAME, DRIVER_VERSION, DEVICE_TYPE = 0x102B, 0x102D, 0x1000
ANY_TYPE, CPU_TYPE = 0xFFFFFFFF, 1 << 1


def devices():
    """Return the Devices of all OpenCL platforms. Raises NoDeviceError if there are none."""
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
        vendor = "%s, %s" % tuple(
            _text(library.clGetPlatformInfo, platform, key)
            for key in (PLATFORM_NAME, PLATFORM_VERSION)
        )
        kinds = ctypes.c_uint64(ANY_TYPE)
        for index, identity in enumerate(_ids(library.clGetDeviceIDs, platform, kinds)):
            device = ctypes.c_void_p(identity)
            found.append(
                Device(
                    _text(library.clGetDeviceInfo, device, DEVICE_NAME),
                    "%s, driver %s"
                    % (vendor, _text(library.clGetDeviceInfo, device, DRIVER_VERSION)),
                    "opencl%d:%d" % (number, index),
                    {},
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
        if library and os.path.basename(library) in text_of("/proc/self/maps"):
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
