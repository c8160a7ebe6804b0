#!/usr/bin/env python3
"""The shared library exports what the C headers declare and nothing else, and the tests call all of it.

Usage: exports.py NM LIBRARY HEADER... -- TEST..."""
import pathlib
import re
import subprocess
import sys


def main(nm, library, *rest):
    headers, tests = rest[:rest.index("--")], rest[rest.index("--") + 1:]

    def text_of(files):
        return "".join(pathlib.Path(file).read_text() for file in files)

    listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    # A symbol of type A is the name of the symbols' version.
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[-2] != "A"}
    declared = set(re.findall(r"^TEEWIRE_API [^;(]*?\b(\w+)\(", text_of(headers), re.M))
    called = set(re.findall(r"\b(teewire_\w+)\(", text_of(tests)))
    wrong = [f"{name}: exported, not declared" for name in sorted(exported - declared)]
    wrong += [f"{name}: declared, not exported" for name in sorted(declared - exported)]
    wrong += [f"{name}: not tested" for name in sorted(declared - called)]
    print("\n".join(wrong) if wrong else f"{len(exported)} exported functions, as declared, all tested")
    return bool(wrong) or len(declared) < 60


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
