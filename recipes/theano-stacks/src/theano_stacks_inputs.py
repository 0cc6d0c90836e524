"""Name a C++ module by a hash of everything that decides its bytes.

The hash covers the source, the options, and the content of what the compiler reads: headers,
libraries, the compiler itself. The environment's path is not part of it: -fmacro-prefix-map keeps
it out of modules, and a module that contains it all the same is not shared. Where an input cannot
be hashed there is no name, and Theano compiles the module. Needs no Theano.
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys

# compile_str's arguments, with the folders and libraries that Theano adds to every module;
# `settings` are versions and settings that decide its bytes as well.
Module = collections.namedtuple(
    "Module", "name source include_dirs lib_dirs libs options hidden compiler settings"
)
# Options that read no file, run no other program and put nothing of this process into the output.
PLAIN = re.compile(
    r"--param$|[a-z0-9-]+=\d+$|-g0$|-O\w*$|-std=[\w+]+$|-[DU]|-m[\w.=+-]+$|-pthread$|-w$"
    r"|-W[\w=+-]+$"
    r"|-f(?!profile|plugin|auto-profile|branch-prob|lto|use-ld|dump|compare-debug|\w+-prefix-map"
    r"|pch|working-dir|directives|random|ident|record|sanitize|stack-usage)[\w=+-]+$"
)
# Words of a source whose effect no hash of files covers.
OUTSIDE = ("__DATE__", "__TIME__", "__TIMESTAMP__", ".incbin")
# Environment variables that let the compiler read or write other files.
VARIABLES = (
    ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "LD_PRELOAD")
    + ("COMPILER_PATH", "GCC_EXEC_PREFIX", "GCC_COMPARE_DEBUG", "GCC_SPECS")
    + ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")
)
# Libraries that g++ links to every module.
IMPLICIT = ("stdc++", "m", "gcc_s", "gcc", "c", "gomp", "pthread")
LIBRARY_STARTS = (b"\x7fELF", b"!<ar")
SYSROOT = os.path.join("lib", "gxx-sysroot")
# Not headers: Theano 0.8.2 has Python files among its headers, and Python writes bytecode there.
PYTHON = (".py", ".pyc", ".pyo")
# The first GCC with -fmacro-prefix-map.
OLDEST = 8


class UnknownError(Exception):
    """An input of a module that cannot be hashed."""


class Inputs(object):
    """The inputs of an environment's modules; each file is read once per process."""

    def __init__(self, prefix, version, environ):
        """Take the environment's folder, the version of its g++, and the process's variables."""
        self.prefix, self.version, self.environ = prefix, version, environ
        self.real = os.path.realpath(prefix)
        self.trees, self.libraries, self.others, self.checked = {}, {}, {}, {}

    def path_options(self):
        """Return the options that keep the environment's path out of modules."""
        paths = sorted({self.prefix, self.real})
        return tuple("-fmacro-prefix-map=%s=/theano" % path for path in paths)

    def key(self, module):
        """Return the hash of a Module's inputs; raises UnknownError where one has none."""
        try:
            return self._key(module)
        except (EnvironmentError, ValueError) as error:
            raise UnknownError(str(error))  # noqa: B904 - Python 2 has no `from`

    def _key(self, module):
        for name in VARIABLES:
            if self.environ.get(name):
                raise UnknownError("%s is set" % name)
        unknown = [option for option in module.options if not PLAIN.match(option)]
        unknown += [word for word in OUTSIDE if word in module.source]
        if unknown:
            raise UnknownError("%s: its effect is unknown" % unknown[0])
        # Theano writes other text in the locale's encoding. UnicodeError is a ValueError.
        source = module.source.encode("ascii")
        folders = list(module.include_dirs) + [os.path.join(self.prefix, "include")]
        libraries, lib_dirs = list(module.libs) + list(IMPLICIT), tuple(module.lib_dirs)
        native = tuple(option for option in module.options if option.endswith("=native"))
        inputs = [
            [module.name, _hash_of(source), list(module.options), module.hidden],
            [_once(self.trees, self._tree, each) for each in folders],
            [_once(self.libraries, self._library, (each, lib_dirs)) for each in libraries],
            _once(self.others, self._compiler, (module.compiler, self.environ.get("PATH"))),
            _once(self.others, self._native, (module.compiler, native)),
            [self.environ.get("LD_LIBRARY_PATH", ""), sys.platform, list(module.settings)],
        ]
        return _hash_of(json.dumps(inputs).encode("ascii"))

    def covers(self, rule, include_dirs, extra):
        """Return whether the hash covers every file that the compiler lists in `rule` (-MD).

        `extra` are files that it need not cover: the module's source, the precompiled header.
        """
        folders = tuple(include_dirs) + (os.path.join(self.prefix, "include"),)
        folders += (os.path.join(self.prefix, SYSROOT),)
        checked = self.checked.setdefault(folders, set())
        names = set(_names(_read(rule))) - checked - set(extra)
        real = tuple(_real_folder(each) for each in folders)
        if not all(os.path.realpath(name).startswith(real) for name in names):
            return False
        if any(name.endswith(PYTHON) for name in names):
            return False
        checked |= names
        return True

    def has_path(self, content, location):
        """Return whether a module contains the path of the environment or of its location."""
        paths = (self.prefix, self.real, location, os.path.realpath(location))
        return any(_bytes_of(each) in content for each in paths)

    def _inside(self, path):
        if not _real_folder(path).startswith(os.path.join(self.real, "")):
            raise UnknownError("%s is outside of the environment" % path)
        return path

    def _tree(self, folder):
        """Return the hash of a folder's files and their names, without Python's own files."""
        files = []
        for path, folders, names in os.walk(self._inside(folder)):
            for name in folders:
                if os.path.islink(os.path.join(path, name)):
                    raise UnknownError("%s in %s is a link" % (name, path))
            for name in [each for each in names if not each.endswith(PYTHON)]:
                each = os.path.join(path, name)
                files.append([os.path.relpath(each, folder), _hash_of(_read(each))])
        return _hash_of(json.dumps(sorted(files)).encode("ascii"))

    def _library(self, request):
        """Return what -lNAME links to, for (NAME, folders).

        The hash of the compiler covers libraries of its sysroot.
        """
        name, folders = request
        if not re.match(r"[\w.+-]+$", name):
            raise UnknownError("a library called %s" % name)
        for folder in folders + (os.path.join(self.prefix, "lib"),):
            for ending in (".so", ".a"):
                path = os.path.join(self._inside(folder), "lib" + name + ending)
                if os.path.exists(path):
                    return [name, ending, _hash_of_library(path)]
        return [name]

    def _compiler(self, request):
        """Return the hashes of the compiler's program and its packages, for (name, PATH)."""
        name, path = request
        program = os.path.join(self.prefix, "bin", os.path.basename(name))
        if _real_program(name, path or os.defpath) != os.path.realpath(program):
            raise UnknownError("%s is not the environment's own compiler" % name)
        if int(self.version.split(".")[0]) < OLDEST:
            raise UnknownError("GCC %s has no -fmacro-prefix-map" % self.version)
        records = os.path.join(self.prefix, "conda-meta")
        names = sorted(each for each in os.listdir(records) if each.endswith(".json"))
        if os.path.isdir(os.path.join(self.prefix, SYSROOT)):
            # One package has all of it, the C library's headers included.
            names = [each for each in names if each.startswith("gxx-")]
        if not names:
            raise UnknownError("%s has no records of packages" % records)
        hashes = [_hash_of(_read(os.path.join(records, each))) for each in names]
        return [self.version, _hash_of(_read(program)), hashes]

    def _native(self, request):
        """Return what options like -march=native mean on this processor: (compiler, options)."""
        compiler, options = request
        if not options:
            return []
        command = [os.path.join(self.prefix, "bin", compiler)] + list(options)
        command += ["-###", "-E", "-x", "c++", os.devnull]
        job = subprocess.Popen(command, stderr=subprocess.PIPE, env=dict(self.environ))
        output = job.communicate()[1].decode("utf-8", "replace").split()
        resolved = [each.strip('"') for each in output if re.match(r'"?(-m|l\d-)', each)]
        if job.returncode or not resolved:
            raise UnknownError("%s cannot be resolved" % options[0])
        return resolved


def _once(results, function, request):
    if request not in results:
        results[request] = function(request)
    return results[request]


def _bytes_of(path):
    return path if isinstance(path, bytes) else os.fsencode(path)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _hash_of(content):
    return hashlib.sha256(content).hexdigest()


def _hash_of_library(path):
    content = _read(path)
    if not content.startswith(LIBRARY_STARTS):
        raise UnknownError("%s may name other files" % path)
    return _hash_of(content)


def _real_folder(path):
    return os.path.join(os.path.realpath(path), "")


def _real_program(name, folders):
    for folder in folders.split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.realpath(path)
    return None


def _names(content):
    """Return the files in a make rule, as the compiler writes it."""
    if sys.version_info[0] > 2:
        content = os.fsdecode(content)
    files = content.replace("\\\n", " ").partition(": ")[2]
    words = re.findall(r"(?:\\.|\$\$|[^\s\\])+", files)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
