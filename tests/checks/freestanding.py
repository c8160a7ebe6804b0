#!/usr/bin/env python3
"""The codec's sources compile for machines without an operating system, where the C++ library has its headers.

Usage: freestanding.py INCLUDE SOURCE... -- COMPILER..."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# The C++ library of GCC 13 and newer refuses most of its headers then, although nothing in them would be missing.
HOSTED = ["-U__STDC_HOSTED__", "-D__STDC_HOSTED__=1"]
OPTIONS = ["-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fsyntax-only"]


def main(include, *rest):
    sources, compiler = rest[:rest.index("--")], rest[rest.index("--") + 1:]

    def compile_one(source, *more, **how):
        return subprocess.run([*compiler, *OPTIONS, *more, f"-I{include}", source], stderr=subprocess.PIPE, text=True,
                              **how)

    if compile_one("-", "-x", "c++", input="#include <charconv>").returncode:
        OPTIONS.extend(HOSTED)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [done.stderr for done in pool.map(compile_one, sources) if done.returncode]
    print("\n".join(wrong) if wrong else f"{len(sources)} sources")
    return bool(wrong) or len(sources) < 30


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
