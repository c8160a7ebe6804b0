#!/usr/bin/env python3
"""The layers of lib point one way: every file includes only its own layer and those below. Usage: layers.py LIB"""
import pathlib
import re
import sys

# From the bottom up. A header or folder may use what stands above it in this list, and its own line.
LAYERS = [
    ("codec", {"error", "varint", "packer", "huffman", "sha256"}),
    ("network", {"packet", "connection", "handshake", "server_info"}),
    ("schema", {"schema"}),
    ("message", {"message", "message_types"}),
    ("snapshot", {"snapshot", "snapshot_builder", "delta", "live_snapshot", "history"}),
    ("demo", {"demo_format", "demo_reader", "demo_writer"}),
    ("transfer", {"snapshot_sender", "snapshot_receiver"}),
]
LEVEL = {header: i for i, (_, headers) in enumerate(LAYERS) for header in headers}
FOLDER = {folder: i for i, (folder, _) in enumerate(LAYERS)}
FORBIDDEN = {"iostream", "string", "vector", "memory", "map", "functional", "cstdio", "fstream", "new", "chrono"}


def includes(path):
    return re.findall(r'#include [<"]([^>"]+)[>"]', path.read_text())


def main(lib):
    wrong = []
    public = sorted((lib / "include/teewire").glob("*.hpp"))
    sources = sorted(p for p in (lib / "src").rglob("*") if p.suffix in (".hpp", ".cpp"))
    for path in public + sources:
        is_public = path in public
        level = LEVEL.get(path.stem) if is_public else FOLDER.get(path.parent.name)
        if level is None:
            wrong.append(f"{path}: belongs to no layer")
            continue
        for name in includes(path):
            if name in FORBIDDEN:
                wrong.append(f"{path}: uses <{name}>")
            used = LEVEL.get(pathlib.Path(name).stem) if name.startswith("teewire/") else None
            if used is not None and used > level:
                wrong.append(f"{path}: a lower layer includes {name}")
    print("\n".join(wrong) if wrong else f"{len(public)} public headers and {len(sources)} sources point one way")
    return bool(wrong) or len(public) < 10


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
