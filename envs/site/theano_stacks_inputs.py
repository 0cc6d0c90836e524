"""Names a C++ module by all that decides its bytes, so that one that was compiled can be found.

A name is a hash of the source, the options, and the content of what the compiler reads: headers,
libraries, the compiler itself. The environment's path is no part of it: -fmacro-prefix-map keeps it
out of modules, and one that is bound to a path all the same is not kept. Where something cannot be
told by its content there is no name, and the module is compiled as ever. Needs no Theano.
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys

# The words of compile_str with the folders and libraries that Theano adds to all modules; `means`
# are versions and settings.
Module = collections.namedtuple(
    "Module", "name source include_dirs lib_dirs libs options hidden compiler means"
)
# Options that read no file, run no other program and put nothing of this process into the output.
PLAIN = re.compile(
    r"--param$|[a-z0-9-]+=\d+$|-g0$|-O\w*$|-std=[\w+]+$|-[DU]|-m[\w.=+-]+$|-pthread$|-w$"
    r"|-W[\w=+-]+$"
    r"|-f(?!profile|plugin|auto-profile|branch-prob|lto|use-ld|dump|compare-debug|\w+-prefix-map"
    r"|pch|working-dir|directives|random|ident|record|sanitize|stack-usage)[\w=+-]+$"
)
# What a source may have in it that no hash of files can know of.
OUTSIDE = ("__DATE__", "__TIME__", "__TIMESTAMP__", ".incbin")
# What has the compiler read other files than its own, or write others.
VARIABLES = (
    ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "LD_PRELOAD")
    + ("COMPILER_PATH", "GCC_EXEC_PREFIX", "GCC_COMPARE_DEBUG", "GCC_SPECS")
    + ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")
)
# Those that g++ links to everything.
IMPLICIT = ("stdc++", "m", "gcc_s", "gcc", "c", "gomp", "pthread")
LIBRARY_STARTS = (b"\x7fELF", b"!<ar")
SYSROOT = os.path.join("lib", "gxx-sysroot")
# No headers; Theano 0.8.2 has its own among them, and Python writes bytecode as it runs.
PYTHON = (".py", ".pyc", ".pyo")
# The first GCC with -fmacro-prefix-map.
OLDEST = 8


class UnknownError(Exception):
    """Something that a module depends on and that cannot be told by its content."""


class Inputs(object):
    """What the modules of an environment are made from; each file is looked at once a process."""

    def __init__(self, prefix, version, environ):
        """Take the environment's folder, its g++'s version, and what variables it is run with."""
        self.prefix, self.version, self.environ = prefix, version, environ
        self.real = os.path.realpath(prefix)
        self.trees, self.libraries, self.others, self.seen = {}, {}, {}, {}

    def maps(self):
        """Return the options that keep the environment's path out of modules."""
        paths = sorted({self.prefix, self.real})
        return tuple("-fmacro-prefix-map=%s=/theano" % path for path in paths)

    def key(self, module):
        """Return the name of a Module; raises UnknownError where there is none."""
        try:
            return self._key(module)
        except (EnvironmentError, ValueError) as error:
            raise UnknownError(str(error))  # noqa: B904 - Python 2 knows no `from`

    def _key(self, module):
        for name in VARIABLES:
            if self.environ.get(name):
                raise UnknownError("%s is set" % name)
        odd = [word for word in module.options if not PLAIN.match(word)]
        odd += [word for word in OUTSIDE if word in module.source]
        if odd:
            raise UnknownError("%s: nobody knows what it brings" % odd[0])
        # Text beyond ASCII is written as the locale has it: a UnicodeError, too.
        source = module.source.encode("ascii")
        folders = list(module.include_dirs) + [os.path.join(self.prefix, "include")]
        libraries, lib_dirs = list(module.libs) + list(IMPLICIT), tuple(module.lib_dirs)
        native = tuple(word for word in module.options if word.endswith("=native"))
        means = [
            [module.name, _hash_of(source), list(module.options), module.hidden],
            [_once(self.trees, self._tree, each) for each in folders],
            [_once(self.libraries, self._library, (each, lib_dirs)) for each in libraries],
            _once(self.others, self._compiler, (module.compiler, self.environ.get("PATH"))),
            _once(self.others, self._native, (module.compiler, native)),
            [self.environ.get("LD_LIBRARY_PATH", ""), sys.platform, list(module.means)],
        ]
        return _hash_of(json.dumps(means).encode("ascii"))

    def known(self, listed, include_dirs, also):
        """Say whether a module's name is made with every file of a list of the compiler's (-MD).

        `also` are files that need not be: the module's source, the precompiled header.
        """
        folders = tuple(include_dirs) + (os.path.join(self.prefix, "include"),)
        folders += (os.path.join(self.prefix, SYSROOT),)
        seen = self.seen.setdefault(folders, set())
        names = set(_names(_read(listed))) - seen - set(also)
        real = tuple(_real_folder(each) for each in folders)
        if not all(os.path.realpath(name).startswith(real) for name in names):
            return False
        if any(name.endswith(PYTHON) for name in names):
            return False
        seen |= names
        return True

    def bound(self, content, location):
        """Say whether a module has in it the path of the environment or of its own place."""
        paths = (self.prefix, self.real, location, os.path.realpath(location))
        return any(_bytes_of(each) in content for each in paths)

    def _inside(self, path):
        if not _real_folder(path).startswith(os.path.join(self.real, "")):
            raise UnknownError("%s is outside of the environment" % path)
        return path

    def _tree(self, folder):
        """Return the hash of a folder's files and their names, but for Python's own."""
        files = []
        for path, folders, names in os.walk(self._inside(folder)):
            for name in folders:
                if os.path.islink(os.path.join(path, name)):
                    raise UnknownError("%s in %s is a link" % (name, path))
            for name in [each for each in names if not each.endswith(PYTHON)]:
                each = os.path.join(path, name)
                files.append([os.path.relpath(each, folder), _hash_of(_read(each))])
        return _hash_of(json.dumps(sorted(files)).encode("ascii"))

    def _library(self, asked):
        """Return what the linker takes for -lNAME; one that is not here is in the sysroot."""
        name, folders = asked
        if not re.match(r"[\w.+-]+$", name):
            raise UnknownError("a library called %s" % name)
        for folder in folders + (os.path.join(self.prefix, "lib"),):
            for ending in (".so", ".a"):
                path = os.path.join(self._inside(folder), "lib" + name + ending)
                if os.path.exists(path):
                    return [name, ending, _hash_of_library(path)]
        return [name]

    def _compiler(self, asked):
        """Return the hashes of the compiler's program and of the packages that it is made of."""
        name, path = asked
        program = os.path.join(self.prefix, "bin", os.path.basename(name))
        if _real_program(name, path or os.defpath) != os.path.realpath(program):
            raise UnknownError("%s is not the environment's own compiler" % name)
        if int(self.version.split(".")[0]) < OLDEST:
            raise UnknownError("GCC %s has no -fmacro-prefix-map" % self.version)
        records = os.path.join(self.prefix, "conda-meta")
        names = sorted(each for each in os.listdir(records) if each.endswith(".json"))
        if os.path.isdir(os.path.join(self.prefix, SYSROOT)):
            # All of it is in one package, the headers and libraries of the C library as well.
            names = [each for each in names if each.startswith("gxx-")]
        if not names:
            raise UnknownError("%s has no records of packages" % records)
        hashes = [_hash_of(_read(os.path.join(records, each))) for each in names]
        return [self.version, _hash_of(_read(program)), hashes]

    def _native(self, asked):
        """Return what options like -march=native stand for on this processor."""
        compiler, options = asked
        if not options:
            return []
        command = [os.path.join(self.prefix, "bin", compiler)] + list(options)
        command += ["-###", "-E", "-x", "c++", os.devnull]
        job = subprocess.Popen(command, stderr=subprocess.PIPE, env=dict(self.environ))
        told = job.communicate()[1].decode("utf-8", "replace").split()
        found = [each.strip('"') for each in told if re.match(r'"?(-m|l\d-)', each)]
        if job.returncode or not found:
            raise UnknownError("%s cannot be resolved" % options[0])
        return found


def _once(known, look, at):
    if at not in known:
        known[at] = look(at)
    return known[at]


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
    """Return the files in a rule of make's, as the compiler writes it."""
    if sys.version_info[0] > 2:
        content = os.fsdecode(content)
    files = content.replace("\\\n", " ").partition(": ")[2]
    words = re.findall(r"(?:\\.|\$\$|[^\s\\])+", files)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
