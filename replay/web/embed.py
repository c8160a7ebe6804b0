#!/usr/bin/env python3
"""A file as a string in C++. Usage: embed.py FILE NAME OUTPUT"""
import pathlib
import sys

source, name, output = sys.argv[1:]
data = pathlib.Path(source).read_bytes()
rows = (",".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24))
pathlib.Path(output).write_text(f"// Made of {pathlib.Path(source).name}.\nconstexpr unsigned char {name}[] = {{\n" +
                                ",\n".join(rows) + "};\n")
