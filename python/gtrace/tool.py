"""The program gtrace, which unfolds traces: there is one decoder of the folded calls, and it is not written twice.

It is the one of the same installation: a wheel puts it among the scripts of its environment, a tarball or a package in bin.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile

from .errors import TraceError


def _candidates():
    package = pathlib.Path(__file__).resolve().parent
    yield pathlib.Path(sysconfig.get_path("scripts")) / "gtrace"
    user = os.name + "_user"
    if user in sysconfig.get_scheme_names():
        yield pathlib.Path(sysconfig.get_path("scripts", user)) / "gtrace"
    for folder in package.parents[:5]:  # PREFIX/lib/pythonX/site-packages, PREFIX/share/gtrace/python, --target PREFIX
        yield folder / "bin" / "gtrace"


def find(given=None):
    """The path of the program. Raises TraceError where there is none."""
    if given:
        if not shutil.which(given):
            raise TraceError(f"{given} is no program")
        return str(given)
    for path in _candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("gtrace")
    if not found:
        raise TraceError("the program gtrace, which unfolds calls, is neither beside this package nor on the PATH")
    return found


def version(tool=None):
    done = subprocess.run([find(tool), "--version"], capture_output=True, text=True)
    return done.stdout.strip()


def lines(tool, *arguments):
    """JSON objects that the program prints, one a line, as they come. The program is ended when the reader stops early."""
    errors = tempfile.TemporaryFile()  # no pipe, which would fill up while nobody reads it
    process = subprocess.Popen([find(tool), *map(str, arguments)], stdout=subprocess.PIPE, stderr=errors)
    ended = False
    try:
        for line in process.stdout:
            yield json.loads(line)
        ended = True
    finally:
        if not ended:
            process.kill()
        process.stdout.close()
        code = process.wait()
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
        errors.close()
        if ended and code:
            raise TraceError(said or f"gtrace ended with exit status {code}")
