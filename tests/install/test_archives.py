#!/usr/bin/env python3
"""The output of replay/release/make works on Debian systems that have nothing else, from Debian 11 on; and it is the same when it is
built again. Usage: test_archives.py FOLDER [CLASS...], as root: the folder of what was built. Tests that need a bare system
are skipped where none can be made."""
import hashlib
import os
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


def only(pattern):
    found = list(FOLDER.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


class Packages(unittest.TestCase):
    """For developers: the wheel, the codec, the source."""

    def test_sums_and_notes(self):
        """Each file is listed, and is what was listed."""
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir() if path.name != "SHA256SUMS"}
        sums = dict(reversed(line.split()) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums, files)
        notes = (FOLDER / "NOTES.md").read_text()
        self.assertNotIn("@", notes)
        for name in set(files) - {"NOTES.md"}:
            self.assertIn(f"| `{name}` | ", notes)

    def test_same_again(self):
        shutil.rmtree(ROOT / "build/release-wheel")
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([ROOT / "replay/release/make", "--out", name, "codec", "wheel", "source"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "CCACHE_DISABLE": "1"})
            made = [path for path in pathlib.Path(name).iterdir() if path.name not in ("SHA256SUMS", "NOTES.md")]
            self.assertEqual(len(made), 4)
            for path in made:
                self.assertEqual(path.read_bytes(), (FOLDER / path.name).read_bytes(), path.name)

    def test_wheel(self):
        """By Debian's pip, without a network."""
        python = "/usr/bin/python3"
        if subprocess.run([python, "-c", "import numpy, pip"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest(f"{python} has no NumPy or no pip")
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--target", name, "--no-deps", only("*.whl")],
                           check=True)
            code = "import sys, teewire; r = teewire.open(sys.argv[1]); print(len(r.items('character').x), r.map, teewire._abi.lib._name)"
            done = subprocess.run([python, "-c", code, ROOT / "fixtures/demos/ddnet_dm1.demo"], check=True, capture_output=True,
                                  text=True, env={"PYTHONPATH": name})
            rows, map_name, library = done.stdout.split()
            self.assertEqual((rows, map_name), ("4506", "dm1"))
            self.assertEqual(pathlib.Path(library), pathlib.Path(name) / "teewire" / pathlib.Path(library).name)

    def test_wrap(self):
        """A project needs only the wrap file and the archive."""
        with tempfile.TemporaryDirectory() as name:
            project = pathlib.Path(name) / "project"
            shutil.copytree(ROOT / "tests/install/consumers", project)
            (project / "subprojects/packagefiles").mkdir(parents=True)
            shutil.copy(FOLDER / "teewire.wrap", project / "subprojects")
            shutil.copy(only("*-source.tar.xz"), project / "subprojects/packagefiles")
            done = subprocess.run(["meson", "setup", "-Dbuildtype=plain", "--force-fallback-for=teewire", project / "build", project],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue((project / "subprojects" / only("*-source.tar.xz").name.removesuffix("-source.tar.xz") / "lib").is_dir())


class Linux(unittest.TestCase):
    def setUp(self):
        self.archive = only("teewire-*-linux-x86_64.tar.xz")

    def test_size(self):
        self.assertLess(self.archive.stat().st_size, MOST_BYTES)

    def test_package(self):
        """Installed, used and purged; Lintian has nothing to say."""
        package = only("teewire_*_amd64.deb")
        if shutil.which("lintian"):
            done = subprocess.run(["lintian", "--allow-root", package], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
        else:
            print("SKIPPED: Lintian, which is not there", file=sys.stderr)
        for suite in SUITES:
            root = bare(suite)
            if root is None:
                self.skipTest(f"{suite} cannot be made here")
            self.addCleanup(shutil.rmtree, root, ignore_errors=True)
            shutil.copy(package, root / "opt/teewire.deb")
            shutil.copy(ROOT / "fixtures/demos/ddnet_yard.demo", root / "opt")

            def run(*words):
                done = subprocess.run(["chroot", root, *words], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout

            def files():
                return {path.relative_to(root) for path in (root / "usr").rglob("*")}

            before = files()
            run("dpkg", "-i", "/opt/teewire.deb")
            self.assertIn("yard", run("teewire", "info", "/opt/ddnet_yard.demo"))
            new = {str(path) for path in files() - before}
            self.assertLessEqual({"usr/share/applications/teewire.desktop", "usr/share/mime/packages/teewire.xml",
                                  "usr/share/icons/hicolor/scalable/apps/teewire.svg"}, new)
            run("dpkg", "-P", "teewire")
            self.assertEqual(files(), before)

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
