"""Import it first: NumPy may be installed only for Debian's interpreter, and another one come first in PATH."""
import os
import sys

try:
    import numpy  # noqa: F401
except ImportError:
    DEBIAN = "/usr/bin/python3"
    if os.path.exists(DEBIAN) and "TEEWIRE_PYTHON_TRIED" not in os.environ:
        os.execve(DEBIAN, [DEBIAN, *sys.argv], {**os.environ, "TEEWIRE_PYTHON_TRIED": "1"})
    print("SKIPPED: there is no NumPy (python3-numpy)")
    sys.exit(77)
