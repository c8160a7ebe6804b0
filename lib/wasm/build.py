#!/usr/bin/env python3
"""Compiles and links a module of WebAssembly.
Usage: build.py CLANG OUTPUT DEPFILE EXPORTS FOLDER INCLUDE... -- FLAG... -- SOURCE...
EXPORTS has the names of functions, one in a line. FOLDER keeps what is compiled."""
import concurrent.futures
import pathlib
import subprocess
import sys

TARGET = ["--target=wasm32-wasi"]


def main():
    clang, output, depfile, exports, folder, *rest = sys.argv[1:]
    first, second = (i for i, word in enumerate(rest) if word == "--")
    includes, flags, sources = rest[:first], rest[first + 1:second], rest[second + 1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def compiled(source):
        to = folder / ("-".join(pathlib.Path(source).parts[-2:]) + ".o")
        subprocess.run([clang, *TARGET, "-O2", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-DNDEBUG",
                        *(f"-I{i}" for i in includes), *flags, "-MMD", "-c", source, "-o", to], check=True)
        return to

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    names = [*pathlib.Path(exports).read_text().split(), "__heap_base", "__wasm_call_ctors"]
    # It has no imports: whatever can run it needs nothing else. Without -O, as clang would then run binaryen's wasm-opt where that is
    # installed, which does not know the features that the module uses.
    subprocess.run([clang, *TARGET, "-nostartfiles", "-Wl,--no-entry", *(f"-Wl,--export={n}" for n in names), "-Wl,--gc-sections",
                    "-Wl,--strip-all", "-Wl,-z,stack-size=131072", *objects, "-o", output], check=True)
    needed = {exports}
    for one in objects:
        needed.update(one.with_suffix(".d").read_text().replace("\\\n", " ").split(": ", 1)[1].split())
    pathlib.Path(depfile).write_text(f"{output}: {' '.join(sorted(needed))}\n")


if __name__ == "__main__":
    main()
