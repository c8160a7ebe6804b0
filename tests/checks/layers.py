#!/usr/bin/env python3
"""The layers of lib point one way, and those that are independent do not know each other. Usage: layers.py LIB

Every include is followed to the file that it names, wherever that lies, and that file's layer must be one of those that
the including file's layer may use. README.md of lib draws the same."""
import pathlib
import re
import sys
import tempfile

# Layer: its public headers, and the layers that it may use.
LAYERS = {
    "codec": ({"cpu", "error", "huffman", "packer", "sha256", "uuid", "varint"}, set()),
    "network": ({"connection", "handshake", "packet", "server_info"}, {"codec"}),
    "schema": ({"schema"}, {"codec"}),
    "message": ({"message", "message_types"}, {"codec", "schema"}),
    "snapshot": ({"delta", "history", "live_snapshot", "snapshot", "snapshot_builder"}, {"codec", "schema"}),
    "demo": ({"demo_format", "demo_reader", "demo_writer"}, {"codec", "schema", "snapshot"}),
    "transfer": ({"snapshot_receiver", "snapshot_sender"}, {"codec", "schema", "message", "snapshot"}),
    "c": (set(), {"codec", "schema", "snapshot", "demo", "transfer"}),
    # A library of its own. Of the codec it uses these headers alone, and nothing uses it.
    "map": ({"map/datafile", "map/map", "map/problem", "map/tiles", "map/xvector"}, {"map types"}),
    "map types": ({"error", "uuid"}, set()),
}
# Public headers of maps, from the bottom up; xvector stands beside the others.
MAP_HEADERS = {
    "problem": set(), "tiles": {"problem"}, "datafile": {"problem", "tiles"},
    "map": {"problem", "tiles", "datafile"}, "xvector": {"problem"},
}
FORBIDDEN = {"iostream", "string", "vector", "memory", "map", "functional", "cstdio", "fstream", "new", "chrono"}
# The C ABI makes its states in the memory that it is given.
FORBIDDEN_IN = {"c": FORBIDDEN - {"new"}, "map": {"iostream", "cstdio", "fstream", "functional", "chrono", "stdexcept"}}


def layer_of(lib, path):
    """The layer of a file of lib, or None."""
    try:
        public = path.relative_to(lib / "include/teewire").with_suffix("").as_posix()
        return next((name for name, (headers, _) in LAYERS.items() if public in headers), None)
    except ValueError:
        pass
    if path == lib / "include/teewire.h":
        return "c"
    folder = path.relative_to(lib / "src").parts[0]
    return folder if folder in LAYERS else None


def find(lib, path, quoted):
    """The file that an include names, as the compiler looks for it."""
    for candidate in (path.parent / quoted, lib / "include" / quoted):
        if candidate.is_file():
            return candidate.resolve()
    return None


def check(lib, path):
    layer = layer_of(lib, path)
    if layer is None:
        yield "belongs to no layer"
        return
    for kind, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), re.MULTILINE):
        if kind == "<":
            if name in FORBIDDEN_IN.get(layer, FORBIDDEN):
                yield f"uses <{name}>"
            continue
        used = find(lib, path, name)
        if used is None or not used.is_relative_to(lib):
            yield f"includes {name}, which is no file of lib"
            continue
        other = layer_of(lib, used)
        if layer == "map" and other == "codec" and used.stem in LAYERS["map types"][0]:
            other = "map types"
        if other != layer and other not in LAYERS[layer][1]:
            yield f"includes {name} of {other or 'no layer'}, which {layer} does not use"
        if layer == other == "map" and path.parent.name == used.parent.name == "map" and "include" in path.parts:
            if used.stem not in MAP_HEADERS[path.stem]:
                yield f"includes {name}"


def check_all(lib):
    lib = lib.resolve()
    files = sorted(p for part in ("include", "src") for p in (lib / part).rglob("*")
                   if p.suffix in (".hpp", ".cpp", ".h"))
    return files, [f"{path}: {what}" for path in files for what in check(lib, path)]


def check_itself():
    """What must be noticed is."""
    wrong = {
        "src/snapshot/a.cpp": '#include "../network/bytes.hpp"',
        "src/snapshot/simd/b.cpp": '#include "../../message/c.hpp"',
        "src/codec/d.cpp": '#include "teewire/delta.hpp"',
        "src/demo/e.cpp": '#include "teewire/message.hpp"',
        "src/network/f.cpp": "#include <vector>",
        "src/codec/g.cpp": '#include "gone.hpp"',
        "src/elsewhere/h.cpp": "",
        "src/map/i.cpp": '#include "teewire/varint.hpp"',
    }
    good = {name: "" for name in ("include/teewire/delta.hpp", "include/teewire/message.hpp", "src/network/bytes.hpp",
                                  "include/teewire/varint.hpp", "src/message/c.hpp")}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (wrong | good).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        noticed = check_all(pathlib.Path(folder))[1]
        assert len(noticed) == len(wrong), noticed


def main(lib):
    check_itself()
    files, wrong = check_all(lib)
    print("\n".join(wrong) if wrong else f"{len(files)} files use the layers that they may")
    return bool(wrong) or len(files) < 60


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
