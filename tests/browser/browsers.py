"""Node, Chromium and what npm has for them."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PLAYWRIGHT = "playwright-core@1"
PUPPETEER = "puppeteer-core@24"  # which drives Debian's Firefox
AXE = "axe-core@4"


def node_modules(*packages):
    """Installs packages, once for all tests of this machine. Where they are, or None."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    kept = pathlib.Path(tempfile.gettempdir()) / f"teewire-browser-{os.getuid()}"
    kept.mkdir(mode=0o700, exist_ok=True)
    if kept.stat().st_uid != os.getuid():
        return None
    for package in packages:
        name = package.rsplit("@", 1)[0]
        if (kept / "node_modules" / name / "package.json").is_file():
            continue
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", kept, package],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode != 0:
            return None
    return kept / "node_modules"


def firefox():
    return shutil.which("firefox-esr") or shutil.which("firefox")


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def needed(*packages):
    """Where these packages are, for a test that needs Chromium, too. Without them, it ends the test as skipped."""
    found = node_modules(*packages) if chromium() else None
    if found is None:
        print(f"SKIPPED: {'npm cannot install ' + ', '.join(packages) if chromium() else 'there is no Chromium'}")
        sys.exit(77)
    return found
