#!/usr/bin/env python3
"""Every fixture is described in MANIFEST.tsv, with its SHA-256. Usage: manifest.py FIXTURES [--update]"""
import hashlib
import pathlib
import sys

HEADER = "path\tsha256\torigin\tlicence\tcovers\n"


def main(folder, update):
    manifest = folder / "MANIFEST.tsv"
    rows = {}
    for line in manifest.read_text().splitlines()[1:]:
        path, digest, *rest = line.split("\t")
        assert len(rest) == 3 and all(rest), f"{path}: origin, licence or coverage is missing"
        rows[path] = (digest, rest)
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*")
             if p.is_file() and p != manifest and p.name != "meson.build"}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    wrong = [f"{name}: not in the manifest" for name in files if name not in rows]
    wrong += [f"{name}: in the manifest alone" for name in rows if name not in files]
    if update and not wrong:
        lines = ["\t".join([name, digests[name], *rows[name][1]]) for name in sorted(rows)]
        manifest.write_text(HEADER + "\n".join(lines) + "\n")
        return 0
    wrong += [f"{name}: has another SHA-256" for name in rows if name in files and rows[name][0] != digests[name]]
    print("\n".join(wrong) if wrong else f"{len(files)} fixtures are as described")
    return bool(wrong) or not files


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--update" in sys.argv))
