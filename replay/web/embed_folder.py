#!/usr/bin/env python3
"""A folder as C++, each file as gzip; without a folder there are none. Usage: embed_folder.py OUTPUT [FOLDER]"""
import gzip
import pathlib
import sys

output = pathlib.Path(sys.argv[1])
folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
files = sorted(p for p in folder.rglob("*") if p.is_file()) if folder else []
parts = ['#include "web/viewer_files.hpp"\n\nnamespace teewire::replay {\nnamespace {\n']
for number, file in enumerate(files):
    packed = gzip.compress(file.read_bytes(), 9, mtime=0)
    rows = ",\n".join(",".join(map(str, packed[i:i + 24])) for i in range(0, len(packed), 24))
    parts.append(f"constexpr unsigned char file_{number}[] = {{\n{rows}}};\n")
if files:
    table = ",\n".join(f'    {{"{file.relative_to(folder).as_posix()}", file_{number}}}' for number, file in enumerate(files))
    parts.append(f"constexpr viewer_file files[] = {{\n{table}}};\n")
parts.append("} // namespace\n\nstd::span<viewer_file const> viewer_files() noexcept { return " +
             ("files" if files else "{}") + "; }\n\n} // namespace teewire::replay\n")
output.write_text("".join(parts))
