"""Has a module that another environment compiled from the same inputs taken, not compiled again.

theano_stacks_inputs says what a module is made from, theano_stacks_modules keeps it. What cannot be
told, and any fault, leads to the compiler.
"""

import logging
import os
import sys

import theano
from theano.gof import cmodule

import theano_stacks_modules as modules
from theano_stacks_inputs import Inputs, Module, UnknownError

LOGGER = logging.getLogger("theano_stacks_modules")
LISTED = "theano_stacks_files"


class Shared(object):
    """The modules that are shared, as compile_str deals with them."""

    def __init__(self):
        self.begun = False
        self.store = self.inputs = None
        self.keys = {}

    def key(self, words, hidden=True):
        """Return the name of a module by compile_str's words; None where it is not to be shared."""
        if not self.begun:
            self._begin()
        if self.store is None or theano.config.cmodule.compilation_warning:
            return None
        if (words, hidden) not in self.keys:
            self.keys[words, hidden] = self._key(words, hidden)
        return self.keys[words, hidden]

    def _begin(self):
        """Look for the folder when the first module is compiled, not in programs without one."""
        self.begun = True
        self.store = modules.chosen(os.environ)
        prefix = getattr(sys, "base_prefix", sys.prefix)
        self.inputs = Inputs(prefix, str(cmodule.gcc_version()), os.environ)

    def _key(self, words, hidden):
        name, source, _, lib_dirs, libs, options = words
        code = os.path.splitext(cmodule.__file__)[0] + ".py"
        try:
            # Compiled code of Theano's own decides how the compiler is called.
            with open(code, "rb") as file:
                means = [modules.hash_of(file.read()), bool(theano.config.cmodule.remove_gxx_opt)]
            return self.inputs.key(
                Module(
                    name,
                    source,
                    _include_dirs(words),
                    [each for each in lib_dirs if each] + cmodule.std_lib_dirs(),
                    list(libs) + cmodule.std_libs(),
                    options,
                    hidden,
                    theano.config.cxx,
                    means,
                )
            )
        except (UnknownError, EnvironmentError) as error:
            LOGGER.info("not shared: %s", error)
            modules.found["not kept"] += 1
            return None

    def has(self, key):
        """Say whether there may be a module of that name."""
        return key is not None and self.store.has(key)

    def take(self, key, words, location):
        """Bring a module's files to their place, as compile_str does; False where there is none."""
        module = self.store.take(key) if key is not None else None
        if module is None:
            return False
        name, source = words[:2]
        try:
            with open(os.path.join(location, "mod.cpp"), "w") as file:
                file.write(source if source.endswith("\n") else source + "\n")
            path = os.path.join(location, "%s.%s" % (name, cmodule.get_lib_extension()))
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o777)
            with os.fdopen(handle, "wb") as file:
                file.write(module)
        except EnvironmentError as error:
            LOGGER.info("not taken: %s", error)
            return False
        modules.found["hits"] += 1
        return True

    def maps(self, key):
        """Return the options that keep the environment's path out of a module that is shared."""
        return self.inputs.maps() if key is not None else ()

    def place(self, key, name, location):
        """Return the options for a module's own place, and for the list of what is read for it."""
        if key is None:
            return ()
        listed = os.path.join(location, LISTED)
        return ("-MD", "-MF", listed, "-fmacro-prefix-map=%s=%s" % (location, name))

    def keep(self, key, words, location, header):
        """Keep a module that was compiled; `header` is the precompiled one's path or None."""
        if key is None:
            return
        listed = os.path.join(location, LISTED)
        path = os.path.join(location, "%s.%s" % (words[0], cmodule.get_lib_extension()))
        kept = False
        try:
            also = [os.path.join(location, "mod.cpp")]
            also += [header, header + ".gch"] if header else []
            known = self.inputs.known(listed, _include_dirs(words), also)
            os.remove(listed)
            with open(path, "rb") as file:
                content = file.read()
            if known and not self.inputs.bound(content, location):
                kept = self.store.keep(key, content)
            else:
                LOGGER.info("not shared: %s is bound to its place", path)
        except EnvironmentError as error:
            LOGGER.info("not shared: %s", error)
        modules.found["kept" if kept else "not kept"] += 1


def _include_dirs(words):
    return [each for each in words[2] if each] + cmodule.std_include_dirs()


SHARED = Shared()
