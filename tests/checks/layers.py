#!/usr/bin/env python3
"""The layers of lib and replay point one way, and those that are independent do not know each other.
Usage: layers.py ROOT

Every include is followed to the file that it names, wherever that lies, and that file's layer must be one of those that
the including file's layer may use. README.md of lib and lib/doc/hacking.md draw the same."""
import pathlib
import re
import sys
import tempfile

# Layer: its public headers, and the layers that it may use.
LAYERS = {
    "codec": ({"cpu", "error", "huffman", "packer", "sha256", "siphash", "uuid", "varint"}, set()),
    "network": ({"connection", "handshake", "packet", "server_info"}, {"codec"}),
    "schema": ({"schema"}, {"codec"}),
    "message": ({"message", "message_types"}, {"codec", "schema"}),
    "snapshot": ({"delta", "detail", "history", "live_snapshot", "snapshot",
                  "snapshot_builder"}, {"codec", "schema"}),
    "demo": ({"demo_format", "demo_reader", "demo_writer"}, {"codec", "schema", "snapshot"}),
    "archive": ({"archive"}, {"codec", "schema", "snapshot", "demo"}),
    "transfer": ({"snapshot_receiver", "snapshot_sender"}, {"codec", "schema", "message", "snapshot"}),
    "c": (set(), {"codec", "schema", "message", "snapshot", "demo", "archive", "transfer"}),
    # A separate library. It uses only these headers of the codec, and nothing uses it.
    "map": ({"map/datafile", "map/map", "map/problem", "map/tiles", "map/xvector"}, {"map types"}),
    "map types": ({"error", "uuid"}, set()),
    # Another library, above both.
    "scene": ({"scene/camera", "scene/draw_list", "scene/ground", "scene/hud", "scene/map_scene", "scene/pictures", "scene/reckoning",
               "scene/scene", "scene/world"}, {"codec", "schema", "snapshot", "map"}),
}
# Public headers of maps, from the bottom up; xvector stands beside the others.
MAP_HEADERS = {
    "problem": set(), "tiles": {"problem"}, "datafile": {"problem", "tiles"},
    "map": {"problem", "tiles", "datafile"}, "xvector": {"problem"},
}
# The program: folder of replay/src, the others that it may use, and the layers of lib. The files of `recording` itself
# stand above those of its subfolders.
PROGRAM = {
    "base": (set(), {"codec", "network", "map", "archive"}),
    "game": ({"base"}, {"codec", "schema", "message", "snapshot", "map"}),
    "recording/stream": ({"base", "game"}, {"codec", "schema", "message", "snapshot", "network"}),
    "recording/demo": ({"base", "game", "recording/stream"}, {"codec", "schema", "message", "snapshot", "demo"}),
    "recording/capture": ({"base", "game", "recording/stream"},
                          {"codec", "network", "message", "snapshot", "demo", "transfer"}),
    "recording/server": ({"base", "game", "recording/stream"}, {"codec", "network", "message", "snapshot", "transfer"}),
    "recording/relay": ({"base", "game", "recording/stream", "recording/demo"},
                        {"codec", "network", "message", "schema", "snapshot", "demo"}),
    "recording": ({"base", "game", "recording/stream", "recording/demo", "recording/capture", "recording/server",
                   "recording/relay"}, {"codec", "snapshot", "transfer", "map"}),
    "events": ({"base", "game", "recording/stream", "recording/demo"},
               {"codec", "schema", "message", "snapshot", "demo"}),
    "tables": ({"base", "game", "events", "recording/stream"}, {"codec", "schema", "message", "snapshot"}),
    "edit": ({"base", "game", "events", "recording/stream", "recording/demo"},
             {"codec", "schema", "message", "snapshot", "demo", "map"}),
    "serve": ({"base", "game", "recording/stream", "recording/demo"},
              {"codec", "network", "message", "snapshot", "transfer", "map"}),
    "http": ({"base", "game", "events", "recording/stream", "recording/demo"},
             {"codec", "network", "message", "schema", "snapshot", "demo"}),
    "map": ({"base", "recording/demo"}, {"codec", "demo", "map", "scene"}),
    "video": ({"base", "game", "map", "recording/demo"}, {"codec", "schema", "message", "snapshot", "demo", "map", "scene"}),
    "web": ({"base", "game", "events", "recording/demo", "http", "map"}, {"codec", "demo"}),
    "cli": ({"base", "game", "recording", "recording/stream", "recording/server"}, {"demo", "map"}),
    "verbs": ({"base", "cli", "game", "events", "tables", "edit", "serve", "http", "map", "video", "web", "recording",
               "recording/stream", "recording/demo", "recording/capture", "recording/server", "recording/relay"},
              set(LAYERS)),
    "main.cpp": ({"base", "cli", "verbs"}, {"codec"}),
}
FORBIDDEN = {"iostream", "string", "vector", "memory", "map", "functional", "cstdio", "fstream", "new", "chrono"}
# Placing a state in the memory that a caller gives needs <new>.
FORBIDDEN_IN = {"c": FORBIDDEN - {"new"}, "snapshot": FORBIDDEN - {"new"}, "archive": FORBIDDEN - {"new"},
                "map": {"iostream", "cstdio", "fstream", "functional", "chrono", "stdexcept"}}


def layer_of(lib, path):
    """The layer of a file of lib, or None."""
    try:
        public = path.relative_to(lib / "include/teewire").with_suffix("").as_posix()
        return next((name for name, (headers, _) in LAYERS.items() if public in headers), None)
    except ValueError:
        pass
    if path.parent == lib / "include":
        return "c"
    folder = path.relative_to(lib / "src").parts[0]
    return folder if folder in LAYERS else None


def find(lib, path, quoted):
    """The file that an include names, as the compiler looks for it."""
    for candidate in (path.parent / quoted, lib / "include" / quoted):
        if candidate.is_file():
            return candidate.resolve()
    return None


def includes(path):
    """('<' or '"', name) of each."""
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def check(lib, path):
    layer = layer_of(lib, path)
    if layer is None:
        yield "belongs to no layer"
        return
    for kind, name in includes(path):
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


def program_layer(src, path):
    """The layer of a file of replay/src: its folder, or the nearest one above it that is a layer."""
    parts = path.relative_to(src).parts
    return next((name for name in ("/".join(parts[:2]), parts[0]) if name in PROGRAM), None)


def check_program(root, path):
    """The same of a file of replay/src."""
    src, lib = root / "replay/src", root / "lib"
    layer = program_layer(src, path)
    if layer is None:
        yield "belongs to no layer"
        return
    layers, library = PROGRAM[layer]
    for kind, name in includes(path):
        if kind == "<" and not name.startswith("teewire"):
            continue
        used = next((c.resolve() for c in (path.parent / name, src / name, lib / "include" / name) if c.is_file()), None)
        if used is None:
            yield f"includes {name}, which is no file of the program or the library"
        elif used.is_relative_to(lib / "include"):
            if layer_of(lib, used) not in library:
                yield f"includes {name} of {layer_of(lib, used)}, which {layer} does not use"
        elif not used.is_relative_to(src):
            yield f"includes {name}, which is no public header of the library"
        else:
            other = program_layer(src, used)
            if other != layer and other not in layers:
                yield f"includes {name} of {other}, which {layer} does not use"
            # A header for only one verb begins with its name; view_options is for all that draw.
            if layer == other == "verbs" and used.stem not in ("verbs", "view_options") and \
                    path.stem.split("_")[0] != used.stem.split("_")[0]:
                yield f"includes {name}, which is another verb's"


def check_all(root):
    root = root.resolve()
    folders = {"lib/include": check, "lib/src": check, "replay/src": check_program}
    files = [(path, what) for folder, what in folders.items() for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".hpp", ".cpp", ".h")]
    return files, [f"{path.relative_to(root)}: {wrong}" for path, what in files
                   for wrong in what(root / "lib" if what is check else root, path)]


def check_itself():
    """It notices all of these faults, and nothing else."""
    wrong = {
        "lib/src/snapshot/a.cpp": '#include "../network/bytes.hpp"',
        "lib/src/snapshot/simd/b.cpp": '#include "../../message/c.hpp"',
        "lib/src/codec/d.cpp": '#include "teewire/delta.hpp"',
        "lib/src/demo/e.cpp": '#include "teewire/message.hpp"',
        "lib/src/network/f.cpp": "#include <vector>",
        "lib/src/codec/g.cpp": '#include "gone.hpp"',
        "lib/src/elsewhere/h.cpp": "",
        "lib/src/map/i.cpp": '#include "teewire/varint.hpp"',
        "replay/src/recording/capture/a.cpp": '#include "serve/udp_server.hpp"',
        "replay/src/recording/server/b.cpp": '#include "../capture/frame.hpp"',
        "replay/src/base/c.cpp": '#include "cli/times.hpp"',
        "replay/src/game/d.cpp": '#include "recording/demo/demo_document.hpp"',
        "replay/src/game/e.cpp": "#include <teewire/packet.hpp>",
        "replay/src/recording/demo/f.cpp": '#include "../../../lib/src/network/bytes.hpp"',
        "replay/src/map/g.cpp": '#include "gone.hpp"',
        "replay/src/verbs/h.cpp": '#include "verbs/play_view.hpp"',
        "replay/src/elsewhere/i.cpp": "",
        "replay/src/j.cpp": "",
    }
    good = {name: "" for name in (
        "lib/include/teewire/delta.hpp", "lib/include/teewire/message.hpp", "lib/include/teewire/packet.hpp",
        "lib/include/teewire/varint.hpp", "lib/src/network/bytes.hpp", "lib/src/message/c.hpp",
        "replay/src/recording/capture/frame.hpp", "replay/src/cli/times.hpp", "replay/src/recording/demo/demo_document.hpp",
        "replay/src/serve/udp_server.hpp", "replay/src/verbs/play_view.hpp")}
    good["replay/src/verbs/play.cpp"] = '#include "verbs/play_view.hpp"\n#include "../serve/udp_server.hpp"\n#include <vector>'
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (wrong | good).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        noticed = check_all(pathlib.Path(folder))[1]
        assert sorted(n.split(":")[0] for n in noticed) == sorted(wrong), noticed


def main(root):
    check_itself()
    files, wrong = check_all(root)
    print("\n".join(wrong) if wrong else f"{len(files)} files use the layers that they may")
    return bool(wrong) or len(files) < 150


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
