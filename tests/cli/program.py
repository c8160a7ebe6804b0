"""The program under test, which the first argument of each script names."""
import os
import subprocess
import sys

from limits import STUCK_AT_WORK

TEEWIRE = os.path.abspath(sys.argv[1])

# Looking for leaks takes a third of the time of each start under AddressSanitizer. Four tests do, which start most verbs and
# services, and so do those in C++.
if "ASAN_OPTIONS" in os.environ and not sys.argv[0].endswith(("test_teewire.py", "test_relay.py", "test_record.py", "test_control.py")):
    os.environ["ASAN_OPTIONS"] += ":detect_leaks=0"


def run_bytes(*arguments, stdin=b"", timeout=STUCK_AT_WORK, errors="strict", **more):
    """Runs it to its end. Returns exit code, standard output as bytes, standard error as text, of which `errors` says what
    to do with bytes that are not UTF-8. `stdin`: bytes or a file. `more`: options of Popen."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given, **more}
    done = subprocess.run([TEEWIRE, *(a if isinstance(a, bytes) else str(a) for a in arguments)], timeout=timeout, **options)
    return done.returncode, done.stdout or b"", done.stderr.decode(errors=errors)


def run(*arguments, **options):
    """As run_bytes, with standard output as text."""
    code, out, err = run_bytes(*arguments, **options)
    return code, out.decode(errors=options.get("errors", "strict")), err


def output_of(*arguments, codes=(0,), **options):
    """Standard output as text. The exit code must be one of these."""
    code, out, err = run(*arguments, **options)
    assert code in codes, (arguments, code, err)
    return out


def size_text(size):
    """A number of bytes as the program prints it for people."""
    units = ["B", "KiB", "MiB", "GiB"]
    while size >= 1023.95 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size} B" if units[0] == "B" else f"{size:.1f} {units[0]}"
