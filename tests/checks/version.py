#!/usr/bin/env python3
"""One version everywhere: that of the build, of teewire.h, of the changes and of the Debian packages.

Usage: version.py VERSION ROOT"""
import pathlib
import re
import sys


def main(version, root):
    root = pathlib.Path(root)
    header = (root / "lib/include/teewire.h").read_text()
    stated = {
        "TEEWIRE_VERSION_MAJOR, MINOR, PATCH": ".".join(
            re.search(rf"^#define TEEWIRE_VERSION_{part} (\d+)\b", header, re.M)[1] for part in ("MAJOR", "MINOR", "PATCH")),
        "TEEWIRE_VERSION_STRING": re.search(r'^#define TEEWIRE_VERSION_STRING "(.*)"$', header, re.M)[1],
        "lib/doc/CHANGELOG.md": re.search(r"^## ([^,\s]+)", (root / "lib/doc/CHANGELOG.md").read_text(), re.M)[1],
        "lib/debian/changelog": re.match(r"teewire \(([^)-]+)", (root / "lib/debian/changelog").read_text())[1],
    }
    wrong = [f"{place}: {found} instead of {version}" for place, found in stated.items() if found != version]
    print("\n".join(wrong) if wrong else f"{version} in {len(stated) + 1} places")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
