#!/usr/bin/env python3
"""Makes the folder that is the viewer: index.html, viewer.js, teewire.js, *.wasm and our own pictures.
Usage: bundle.py STAMP NPM KEPT FOLDER LIBRARY SCENE. LIBRARY has teewire.js and *.wasm; KEPT what npm installs; SCENE is a
module."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


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
    stamp, npm, kept, folder, library, scene = sys.argv[1:]
    kept, folder, library = pathlib.Path(kept), pathlib.Path(folder), pathlib.Path(library)
    install(npm, kept)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    esbuild = kept / "node_modules/.bin/esbuild"
    common = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=inline", "--log-level=warning"]
    paths = {**os.environ, "NODE_PATH": str(kept.resolve() / "node_modules")}
    for source, options in ((HERE / "viewer.js", ["--external:./teewire.js"]), (library / "teewire.js", [])):
        subprocess.run([esbuild, source, *common, *options, f"--outfile={folder / source.name}"], check=True, env=paths)
    shutil.copy(HERE / "index.html", folder)
    for module in (*library.glob("*.wasm"), scene):
        shutil.copy(module, folder)
    for picture in (HERE.parents[1] / "pictures").glob("*.png"):
        shutil.copy(picture, folder / f"own_{picture.name}")
    files = "".join(f"{file.name} {file.stat().st_size}\n" for file in sorted(folder.iterdir()))
    pathlib.Path(stamp).write_text(files)


if __name__ == "__main__":
    main()
