"""An easyconfig for EasyBuild, with the environment.yml that its easyblock Conda installs.

EasyBuild's manual, "Writing easyconfig files".
"""

from __future__ import annotations

import hashlib

from stacks.exports import environment
from stacks.exports.subject import Export, Subject, by_pip, with_channel

# A conda installer that EasyBuild has an easyconfig for.
INSTALLER = ("Miniforge3", "24.11.3-0")


def export(subject: Subject) -> Export:
    """Return an easyconfig and its source, an environment.yml."""
    framework, text = subject.variant.framework, environment.text_of(subject)
    name = framework.name.removesuffix(f"-{framework.version}")
    source = {"filename": environment.NAME, "extract_cmd": "cp %s ."}
    # EasyBuild fills in what follows a percent sign.
    values = {
        "easyblock": "Conda",
        "name": name,
        "version": framework.version,
        "versionsuffix": f"-{subject.flavour}",
        "homepage": subject.homepage.replace("%", "%%"),
        "description": subject.summary.replace("%", "%%"),
        "sources": [source],
        "checksums": [hashlib.sha256(text.encode()).hexdigest()],
        "builddependencies": [INSTALLER],
        "environment_file": f"%(builddir)s/{environment.NAME}",
        "sanity_check_paths": {"files": ["bin/python"], "dirs": []},
        "sanity_check_commands": [f'python -c "import {framework.module}"'],
        "moduleclass": "math",
    }
    lines = [f"{key} = {value!r}" for key, value in values.items()]
    lines.insert(6, "toolchain = SYSTEM")
    file = f"{subject.name}.eb"
    files = {file: "\n".join(lines) + "\n", environment.NAME: text}
    return Export(files, with_channel(subject, by_pip(subject, f"eb --robot {{to}}/{file}")))
