#!/usr/bin/env python3
"""The types of the JavaScript by tsc, and its usual faults by biome.

Usage: javascript.py NPM KEPT ROOT

npm installs both into KEPT, once, as tests/browser/package.json has them. If it cannot, the test is skipped: exit code 77.
The sources are checked in a temporary copy, which has lib/wasm/abi.js, too."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from citations import files_of

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "replay/web/viewer"))
import bundle

FOLDERS = ("lib/wasm", "replay/web/viewer", "replay/web/program", "tests/browser")
SUFFIXES = {".js", ".mjs", ".ts", ".json"}
PATIENCE_S = 60
# Both programs have to notice something in it.
FAULTS = "tests/browser/faults.mjs"
FAULTY = "/** @type {number} */\nexport const number = 'text';\nexport const same = (any) => any;\ndebugger;\n"
NOTICED = {f"{FAULTS}:2: TS2322", f"{FAULTS}:3: TS7006", f"{FAULTS}:4: lint/suspicious/noDebugger"}


def install(npm, kept, packages):
    """Whether the packages are there. A lock file that does not fit is a fault."""
    try:
        bundle.install(npm, kept, packages, timeout=PATIENCE_S, stderr=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired:
        return False
    except subprocess.CalledProcessError as error:
        if re.search("EUSAGE|EINTEGRITY", error.stderr):
            raise SystemExit("\n".join(error.stderr.splitlines()[:5])) from None
        return False
    return True


def copy(root, to):
    """The sources, with what a build makes. The declarations hide teewire.js, so that it is there as exported.js, too."""
    paths = [p for p in files_of(root) if p.suffix in SUFFIXES and p.relative_to(root).parent.as_posix() in FOLDERS]
    for path in paths:
        target = to / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    wasm = to / "lib/wasm"
    shutil.copy(wasm / "teewire.js", wasm / "exported.js")
    headers = sorted((root / "lib/include").glob("teewire*.h"))
    subprocess.run([sys.executable, root / "lib/structs.py", "javascript", wasm / "abi.js", *headers], check=True)
    (to / "tests/browser/biome.json").rename(to / "biome.json")  # it is for all below it
    (to / FAULTS).write_text(FAULTY)
    return sum(p.suffix != ".json" for p in paths)


def run(folder, *command):
    return subprocess.run([folder / "node_modules/.bin" / command[0], *command[1:]], cwd=folder, capture_output=True, text=True)


def types(folder):
    """Findings of tsc. Indented lines after one explain it."""
    out = run(folder, "tsc", "--project", "tests/browser", "--pretty", "false").stdout
    return re.sub(r"^(\S+)\((\d+),\d+\): error ", r"\1:\2: ", out, flags=re.M).splitlines()


def faults(folder):
    """Findings of biome; what is wrong with its configuration, if there are none."""
    done = run(folder, "biome", "lint", "--reporter=github", "--max-diagnostics=none", "--colors=off")
    found = re.findall(r"^::\w+ title=([^,]+),file=([^,]+),line=(\d+),.*?::(.*)$", done.stdout, re.M)
    return [f"{pathlib.Path(file).relative_to(folder)}:{line}: {rule}: {what}" for rule, file, line, what in found] \
        or done.stderr.splitlines()


def main(npm, kept, root):
    root = pathlib.Path(root).resolve()
    kept = pathlib.Path(kept).resolve()
    packages = root / "tests/browser"
    if not install(npm, kept, packages):
        print("SKIPPED: npm cannot install tsc and biome, which check the JavaScript")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        count = copy(root, folder)
        (folder / "node_modules").symlink_to(kept / "node_modules")
        found = types(folder) + faults(folder)
    seeded = {wanted for wanted in NOTICED for line in found if line.startswith(wanted)}
    wrong = [line for line in found if not line.startswith(tuple(NOTICED))]
    wrong += [f"{wanted} was not noticed" for wanted in sorted(NOTICED - seeded)]
    print("\n".join(wrong) or f"{count} files have types, and no fault that biome knows")
    return bool(wrong) or count < 30


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
