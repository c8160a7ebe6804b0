#!/usr/bin/env python3
"""Makes the npm package of <teewire-player>. Usage: package.py TARGET.tgz BUNDLE VERSION LICENSE DEMO NPM. BUNDLE is what bundle.py made; DEMO
is the recording of the example."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FILES = ("teewire-player.js", "teewire.js", "*.wasm", "own_*.png")
OF_PROGRAM = ("export.wasm", "program.wasm")


def main():
    target, bundle, version, license_name, demo, npm = sys.argv[1:]
    target = pathlib.Path(target)
    folder = target.with_suffix("")
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(HERE / "package", folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    for pattern in FILES:
        for file in sorted(pathlib.Path(bundle).glob(pattern)):
            if file.name not in OF_PROGRAM:
                shutil.copy(file, folder)
    shutil.copy(HERE / "teewire-player.d.ts", folder)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "example/public").mkdir()
    shutil.copy(demo, folder / "example/public/game.demo")
    made = folder / "package.json.in"
    made.with_suffix("").write_text(made.read_text().replace("@VERSION@", version).replace("@LICENSE@", license_name))
    made.unlink()
    subprocess.run([npm, "pack", "--silent", "--pack-destination", target.parent, folder], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
