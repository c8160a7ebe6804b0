#!/usr/bin/env python3
"""Makes the folder that is the viewer: index.html, viewer.js, teewire-player.js, teewire.js, *.wasm and our own pictures.
Usage: bundle.py STAMP NPM KEPT FOLDER LIBRARY SCENE PROGRAM. LIBRARY has teewire.js and *.wasm; KEPT what npm installs; SCENE is
a module; PROGRAM has what replay/release/page makes, or is "" for a viewer without the tools."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent / "program"


def install(npm, kept, folder=HERE, **how):
    """Installs the packages of a folder's package-lock.json, once. `how` is for subprocess.run."""
    kept.mkdir(parents=True, exist_ok=True)
    lock = (folder / "package-lock.json").read_bytes()
    done = kept / "installed"
    if done.is_file() and done.read_bytes() == lock:
        return
    done.unlink(missing_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(folder / name, kept)
    subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=kept, check=True,
                   **how)
    done.write_bytes(lock)


def main():
    stamp, npm, kept, folder, library, scene, program = sys.argv[1:]
    kept, folder, library = pathlib.Path(kept), pathlib.Path(folder), pathlib.Path(library)
    install(npm, kept)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    esbuild = kept / "node_modules/.bin/esbuild"
    common = ["--bundle", "--loader:.html=text", "--loader:.css=text", "--minify", "--format=esm", "--target=es2022",
              "--legal-comments=inline", "--log-level=warning"]
    paths = {**os.environ, "NODE_PATH": str(kept.resolve() / "node_modules")}
    sources = [(HERE / "viewer.js", ["--external:./teewire-player.js"]), (HERE / "teewire-player.js", ["--external:./teewire.js"]),
               (library / "teewire.js", [])]
    if program:
        sources += [(TOOLS / "tools.js", ["--external:./commands.js", "--external:./teewire-player.js"]), (TOOLS / "commands.js", []), (TOOLS / "worker.js", ["--format=iife"])]
    for source, options in sources:
        subprocess.run([esbuild, source, *common, *options, f"--outfile={folder / source.name}"], check=True, env=paths)
    page = (HERE / "index.html").read_text()
    if program:
        shutil.copy(TOOLS / "tools.html", folder)
        for name in ("export", "program"):
            for ending in ("js", "wasm"):
                shutil.copy(f"{program}/{name}.{ending}", folder)
    else:
        page = re.sub("<p class=\"tools\">.*?</p>", "", page)
    (folder / "index.html").write_text(page)
    for module in (*library.glob("*.wasm"), scene):
        shutil.copy(module, folder)
    for picture in (HERE.parents[1] / "pictures").glob("*.png"):
        shutil.copy(picture, folder / f"own_{picture.name}")
    if program:
        names = sorted([*(file.name for file in folder.iterdir()), "view.html"])  # as index.html is called on some sites
        source = (TOOLS / "offline.js").read_text().replace("const FILES = [];", f"const FILES = {json.dumps(names)};")
        (folder / "offline.js").write_text(source)
    files = "".join(f"{file.name} {file.stat().st_size}\n" for file in sorted(folder.iterdir()))
    pathlib.Path(stamp).write_text(files)


if __name__ == "__main__":
    main()
