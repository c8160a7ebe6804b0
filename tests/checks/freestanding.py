#!/usr/bin/env python3
"""The codec's sources compile for machines without an operating system, where the C++ library has its headers; so does
every header of theirs by itself, as editors open them.

Usage: freestanding.py INCLUDE SOURCE... -- COMPILER..."""
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# The C++ library of GCC 13 and newer refuses most of its headers then, although nothing in them would be missing.
HOSTED = ["-U__STDC_HOSTED__", "-D__STDC_HOSTED__=1"]
OPTIONS = ["-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fsyntax-only"]


def main(include, *rest):
    sources, compiler = rest[:rest.index("--")], rest[rest.index("--") + 1:]

    # The map library has an operating system.
    headers = [str(p) for p in sorted((pathlib.Path(include).parent / "src").rglob("*.hpp")) if p.parent.name != "map"]

    def compile_one(source, *more, **how):
        alone = ["-include", source, "-x", "c++", os.devnull] if source in headers else [source]
        return subprocess.run([*compiler, *OPTIONS, *more, f"-I{include}", *alone], stderr=subprocess.PIPE, text=True,
                              **how)

    if compile_one("-", "-x", "c++", input="#include <charconv>").returncode:
        OPTIONS.extend(HOSTED)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [done.stderr for done in pool.map(compile_one, [*sources, *headers]) if done.returncode]
    print("\n".join(wrong) if wrong else f"{len(sources)} sources, {len(headers)} headers")
    return bool(wrong) or len(sources) < 30 or len(headers) < 20


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
