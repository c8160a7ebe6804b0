#!/usr/bin/env python3
"""The C ABI is what it was: functions and structs by abidiff, constants of the headers by their text.

Usage: abi.py LIBRARY BASELINE HEADER... [--update]
BASELINE.abi and BASELINE.constants are what they are compared with; --update writes them anew, which is right after an
addition, and after a new TEEWIRE_ABI_MAJOR."""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def constants(headers):
    """Enumerators and macros with values; versions are there to change."""
    text = re.sub(r" *\\\n *", " ", "\n".join(header.read_text() for header in headers))  # macros of several lines
    found = re.findall(r"^    (TEEWIRE_\w+) = (-?\d+)", text, re.M)
    found += re.findall(r"(TEEWIRE_\w+) = (\d+)", "\n".join(re.findall(r"^typedef enum .*\}.*$", text, re.M)))
    found += re.findall(r"^#define (TEEWIRE_\w+(?:\([^)]*\))?) (.+)$", text, re.M)
    return {f"{name} {value}" for name, value in found
            if name not in ("TEEWIRE_API", "TEEWIRE_ABI_MINOR") and not name.startswith("TEEWIRE_VERSION_")}


def describe(library, folder, out):
    subprocess.run(["abidw", "--exported-interfaces-only", "--drop-private-types", "--headers-dir", folder,
                    "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                    "--out-file", out, library], check=True)
    # Where it was built is not the ABI's business.
    out.write_text(re.sub(r" path='[^']*'", lambda m: f" path='{m[0].rpartition('/')[2]}", out.read_text()))


def main(library, baseline, *rest):
    update = "--update" in rest
    headers = [pathlib.Path(name) for name in rest if name != "--update"]
    stored = pathlib.Path(baseline + ".constants")
    now = constants(headers)
    if update:
        stored.write_text("\n".join(sorted(now)) + "\n")
    gone = sorted(set(stored.read_text().splitlines()) - now)
    if gone or len(now) < 60:
        print("constants that are no more:", *gone, sep="\n")
        return 1
    print(f"{len(now)} constants, none of the stored ones changed")
    if platform.machine() != "x86_64" or sys.maxsize < 2**32 or not shutil.which("abidiff"):
        print("SKIPPED: functions and structs, which need abidiff (abigail-tools) and an x86-64 machine")
        return SKIPPED
    if update:
        describe(library, headers[0].parent, pathlib.Path(baseline + ".abi"))
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder) / "new.abi"
        describe(library, headers[0].parent, new)
        return subprocess.run(["abidiff", "--no-added-syms", baseline + ".abi", new]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
