#!/usr/bin/env python3
"""Writes two files that a server can add to its sources: teewire.h and teewire.cpp in FOLDER.

They have what a server calls: the codec, Huffman coding, builders, histories and senders. Demos, maps, tables and
what only clients need are left out. teewire.cpp needs a C++20 compiler, and neither exceptions nor RTTI.

Usage: amalgamate.py FOLDER"""
import pathlib
import re
import sys

LIB = pathlib.Path(__file__).resolve().parent
LAYERS = ("codec", "snapshot", "transfer", "c")
LEFT_OUT = {"codec/sha256.cpp", "snapshot/live_snapshot.cpp", "transfer/snapshot_receiver.cpp", "c/archive.cpp", "c/demo.cpp",
            "c/receiver.cpp", "c/table.cpp"}
SECTIONS_LEFT_OUT = {"receiving snapshots"}
KERNELS = "TEEWIRE_KERNELS"  # defined while teewire.cpp includes itself
# GCC warns about its own header unless that is switched off where the header is first included.
FIRST = """#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
"""


def version():
    return re.search(r"version: '([^']+)'", (LIB.parent / "meson.build").read_text())[1]


def banner():
    licence = (LIB.parent / "LICENSE").read_text().strip().splitlines()
    lines = [f"teewire {version()}: snapshots and deltas of Teeworlds and DDNet, for servers.",
             "Made by lib/amalgamate.py; change the sources instead.", "", *licence]
    return ["// " + line if line else "//" for line in lines] + [""]


def header():
    """The C header without the sections that servers have no use for."""
    lines = []
    kept = True
    for line in (LIB / "include/teewire.h").read_text().splitlines():
        section = re.fullmatch(r"/\* -+ (.*?) -+ \*/", line)
        if section:
            kept = section[1] not in SECTIONS_LEFT_OUT
        if kept:
            lines.append(line)
    return lines


class Expansion:
    """Sources with the headers that they include, each once."""

    def __init__(self):
        self.lines = []
        self.seen = {LIB / "include/teewire.h", LIB / "src/snapshot/simd/level.hpp"}

    def find(self, name, source):
        for folder in (source.parent, LIB / "include", LIB / "src"):
            if (folder / name).is_file():
                return (folder / name).resolve()
        sys.exit(f"amalgamate: {source} includes {name}, which is not there")

    def add(self, source):
        for line in source.read_text().splitlines():
            include = re.match(r'#include "([^"]+)"', line)
            if not include:
                if line != "#pragma once":
                    self.lines.append(line)
                continue
            path = self.find(include[1], source)
            if path.name == "kernels.hpp" and source.suffix == ".cpp":
                self.lines += [f"#define {KERNELS}", '#include "teewire.cpp"', f"#undef {KERNELS}"]
            elif path not in self.seen:
                self.seen.add(path)
                self.add(path)

    def add_source(self, source):
        self.lines += [f"// ==== {source.relative_to(LIB)} ====", ""]
        begin = len(self.lines)
        self.add(source)
        # A level's macros end with it.
        if source.parent.name == "simd":
            macros = re.findall(r"^#\s*define (\w+)", "\n".join(self.lines[begin:]), re.M)
            self.lines += [f"#undef {macro}" for macro in dict.fromkeys(macros) if macro != KERNELS]
        self.lines.append("")


def source():
    main = Expansion()
    for layer in LAYERS:
        for path in sorted((LIB / "src" / layer).rglob("*.cpp")):
            if str(path.relative_to(LIB / "src")) not in LEFT_OUT:
                main.add_source(path)
    kernels = Expansion()
    kernels.seen |= main.seen
    kernels.add(LIB / "src/snapshot/simd/kernels.hpp")
    return ["#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)",
            '#error "teewire.cpp needs C++20, such as by -std=c++20"', "#else",
            f"#ifndef {KERNELS}", '#include "teewire.h"', "", *FIRST.splitlines(), "", *main.lines,
            f"#else // {KERNELS}: the following is compiled for each level", *kernels.lines, "#endif", "#endif"]


def write(path, lines):
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(banner() + lines)) + "\n"
    path.write_text(text)
    print(f"{path}: {text.count(chr(10))} lines, {len(text.encode())} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "teewire.h", header())
    write(folder / "teewire.cpp", source())
