#!/usr/bin/env python3
"""The layers of lib point one way: every file includes only its own layer and those below. Usage: layers.py LIB"""
import pathlib
import re
import sys

# From the bottom up. A header or folder may use what stands above it in this list, and its own line.
LAYERS = [
    ("codec", {"error", "varint", "packer", "huffman", "sha256", "uuid"}),
    ("network", {"packet", "connection", "handshake", "server_info"}),
    ("schema", {"schema"}),
    ("message", {"message", "message_types"}),
    ("snapshot", {"snapshot", "snapshot_builder", "delta", "live_snapshot", "history"}),
    ("demo", {"demo_format", "demo_reader", "demo_writer"}),
    ("transfer", {"snapshot_sender", "snapshot_receiver"}),
    ("c", set()),
]
# A library of its own, from the bottom up. Of the codec it uses these types alone; nothing there uses it.
FOR_MAPS = {"error", "uuid"}
MAP_LAYERS = ["map/problem", "map/tiles", "map/datafile", "map/map"]
MAP_BESIDE = {"map/xvector": {"map/problem"}}
LEVEL = {header: i for i, (_, headers) in enumerate(LAYERS) for header in headers}
FOLDER = {folder: i for i, (folder, _) in enumerate(LAYERS)}
FORBIDDEN = {"iostream", "string", "vector", "memory", "map", "functional", "cstdio", "fstream", "new", "chrono"}
# The C ABI makes its states in the memory that it is given; what it exports stands in one header.
FOR_C = {"new", "teewire.h"}
FORBIDDEN_IN_MAP = {"iostream", "cstdio", "fstream", "functional", "chrono", "stdexcept"}


def includes(path):
    return re.findall(r'#include [<"]([^>"]+)[>"]', path.read_text())


def own_name(include):
    return include.removeprefix("teewire/").removesuffix(".hpp") if include.startswith("teewire/") else None


def check_codec(path, is_public):
    level = LEVEL.get(path.stem) if is_public else FOLDER.get(path.parent.name)
    if level is None:
        yield "belongs to no layer"
        return
    for include in includes(path):
        used = own_name(include)
        if include in FORBIDDEN | FOR_C and not (include in FOR_C and path.parent.name == "c"):
            yield f"uses <{include}>"
        if used is not None and LEVEL.get(used, len(LAYERS)) > level:
            yield f"includes {include} of a higher layer"


def check_map(path, is_public):
    header = "map/" + path.stem
    if not is_public:
        allowed = FOR_MAPS | set(MAP_LAYERS) | set(MAP_BESIDE)
    elif header in MAP_BESIDE:
        allowed = FOR_MAPS | MAP_BESIDE[header]
    elif header in MAP_LAYERS:
        allowed = FOR_MAPS | set(MAP_LAYERS[:MAP_LAYERS.index(header)])
    else:
        yield "belongs to no layer"
        return
    for include in includes(path):
        used = own_name(include)
        if include in FORBIDDEN_IN_MAP:
            yield f"uses <{include}>"
        if used is not None and used not in allowed:
            yield f"includes {include}"


def main(lib):
    public = sorted((lib / "include/teewire").rglob("*.hpp"))
    sources = sorted(p for p in (lib / "src").rglob("*") if p.suffix in (".hpp", ".cpp"))
    wrong = []
    for path in public + sources:
        check = check_map if path.parent.name == "map" else check_codec
        wrong += [f"{path}: {what}" for what in check(path, path in public)]
    print("\n".join(wrong) if wrong else f"{len(public)} public headers and {len(sources)} sources point one way")
    return bool(wrong) or len(public) < 10


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
