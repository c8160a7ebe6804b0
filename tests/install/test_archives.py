#!/usr/bin/env python3
"""What replay/release/make builds works unpacked on Debian systems that have nothing else, from Debian 11 on; and it is the same
when it is built again. Usage: test_archives.py FOLDER, as root: the folder of the archives. Exit code 77, where no such system can
be made, is a test that was skipped."""
import hashlib
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

FOLDER = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = ("bullseye", "bookworm", "trixie")
MOST_BYTES = 15 << 20
MOST_START_S = 0.02


def bare(suite):
    """A system in a new folder; None if it cannot be made here."""
    if subprocess.run([ROOT / "tests/bare/run", suite, "true"], stdin=subprocess.DEVNULL).returncode != 0:
        return None
    folder = tempfile.mkdtemp(prefix="teewire-archive-")
    subprocess.run(["tar", "--numeric-owner", "-C", folder, "-xf", ROOT / f"build/bare/{suite}.tar"], check=True)
    return pathlib.Path(folder)


class Linux(unittest.TestCase):
    def setUp(self):
        found = sorted(FOLDER.glob("teewire-*-linux-x86_64.tar.xz"))
        self.assertEqual(len(found), 1)
        self.archive = found[0]

    def test_sizes_and_sums(self):
        self.assertLess(self.archive.stat().st_size, MOST_BYTES)
        sums = dict(reversed(line.split()) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums[self.archive.name], hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def test_same_again(self):
        """The codec, which is quickly built twice."""
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([ROOT / "replay/release/make", "--out", name, "codec"], check=True, stderr=subprocess.DEVNULL)
            made, = pathlib.Path(name).glob("*.zip")
            self.assertEqual(made.read_bytes(), (FOLDER / made.name).read_bytes())

    def test_bare(self):
        for suite in SUITES:
            with self.subTest(suite):
                self.check(suite)

    def check(self, suite):
        root = bare(suite)
        if root is None:
            self.skipTest(f"{suite} cannot be made here")
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        for name in ("hosts", "resolv.conf"):
            shutil.copy(pathlib.Path("/etc") / name, root / "etc" / name)
        subprocess.run(["tar", "-C", root / "opt", "-xf", self.archive], check=True)
        shutil.copytree(ROOT / "fixtures/demos", root / "opt/demos")
        program = next((root / "opt").glob("teewire-*/teewire"))
        inside = "/" + str(program.relative_to(root))

        def run(*words, code=0):
            done = subprocess.run(["chroot", root, inside, *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout + done.stderr

        self.assertRegex(run("--version"), r"\d+\.\d+\.\d+")
        self.assertEqual(run("verify", "/opt/demos").count(": ok: "), len(list((root / "opt/demos").glob("*.demo"))))
        run("export", "/opt/demos/ddnet_yard.demo", "-o", "/opt/yard.sqlite")
        self.assertIn("localhost:9: nothing to record", run("dump", "localhost:9", "--duration", "1", code=3))
        self.assertIn("ost not found", run("dump", "nowhere.invalid:8303", "--duration", "1", code=3))
        took = []
        for _ in range(15):
            began = time.perf_counter()
            subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
            took.append(time.perf_counter() - began)
        self.assertLess(statistics.median(took), MOST_START_S)
        server = subprocess.Popen(["chroot", root, inside, "web", "--no-open", "--port", "0", "/opt/demos"], stderr=subprocess.PIPE,
                                  text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address = re.search(r"http://\S+/", server.stderr.readline())[0]
        with urllib.request.urlopen(address, timeout=10) as page:
            self.assertIn(b"<title>", page.read())
        print(f"{suite}: {statistics.median(took) * 1000:.1f} ms to start", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
