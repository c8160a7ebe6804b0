#!/usr/bin/env python3
"""`teewire picture` against the viewer in Chromium: the same moments look the same.
Usage: test_pictures.py BUNDLE TEEWIRE FIXTURES [FOLDER_FOR_PICTURES]. With TEEWIRE_CORPUS, of real recordings, too. Exit code
77, where there is no Chromium or ffmpeg, is a test that was skipped."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import browsers
import test_viewer
from test_viewer import CORPUS, FIXTURES, TEEWIRE, Served, pages, snapshots

KEPT = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
SIZE = (640, 360)
SHARE = max(1, int(os.environ.get("TEEWIRE_SHARE") or 4))
# Differences of red, green or blue, from 0 to 255: the average of a picture, and the least that counts as another colour.
MOST_AVERAGE = 2
FAR = 48
MOST_FAR = 0.005  # share of such parts: edges lie on other sides of pixels

# Hides all but the picture.
ALONE = ("for (const e of teewire_viewer.root.querySelectorAll('*')) if (e.id !== 'world' && !e.querySelector('#world')) "
         "e.style.display = 'none'")


def pixels(file):
    return subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], check=True,
                          capture_output=True).stdout


class Pictures(Served):
    def test_moments(self):
        demos = sorted((FIXTURES / "demos").glob("*.demo"))
        real = sorted((CORPUS / "demos").glob("*.demo"), key=lambda f: f.stat().st_size)
        demos += [f for f in real if "trunc" not in f.name][::SHARE]
        shots = self.folder(*demos)
        base = self.serve(shots)
        asked, wanted = [], []
        for demo in demos:
            known = snapshots(demo)
            for part in (0.3, 0.7):
                if len(known) < 20:
                    continue
                tick = known[int(len(known) * part)][0]
                shot = shots / f"{demo.stem}_{tick}_browser.png"
                steps = [ALONE, "key:m", f"teewire_viewer.set_playing(false); teewire_viewer.seek({tick})",
                    "teewire_viewer.settled", "wait:400"]
                asked.append(self.page(base, demo.name, "0:00", steps=steps, shot=str(shot), size=SIZE))
                wanted.append((demo, tick, shot))
        compared = 0
        for result, (demo, tick, shot) in zip(pages(*asked), wanted, strict=True):
            with self.subTest(demo=demo.name, tick=tick):
                state = result["states"][-1]
                self.assertEqual((result["errors"], state["tick"]), ([], tick))
                if not state["follows"] or state["selected"] not in [tee["id"] for tee in state["tees"]]:
                    continue
                own = shot.with_name(shot.name.replace("_browser", "_own"))
                done = subprocess.run([TEEWIRE, "picture", demo, "--at", str(tick), "--size", f"{SIZE[0]}x{SIZE[1]}",
                                       "--no-names", "--hud", "none",
                                       "--follow", state["follows"], "-o", own, "-q"], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                differences = [abs(a - b) for a, b in zip(pixels(own), pixels(shot), strict=True)]
                if KEPT:
                    for file in (own, shot):
                        shutil.copy(file, KEPT)
                average = sum(differences) / len(differences)
                far = sum(d > FAR for d in differences) / len(differences)
                print(f"{average:6.2f} {100 * far:6.2f} % {demo.name} {tick}", file=sys.stderr)
                compared += 1
                self.assertLess(average, MOST_AVERAGE)
                self.assertLess(far, MOST_FAR)
        self.assertGreaterEqual(compared, 3 * len(demos) // 2)

    def test_ghost(self):
        """Another run of the same race, where `teewire video` shows it; the same with two files that are dropped together."""
        first, second = (FIXTURES / f"races/ddnet_{name}.demo" for name in ("first", "second"))
        shots = self.folder(first, second)
        base = self.serve(shots)
        start = snapshots(first)[0][0]
        ticks = [start + 120, start + 250]
        asked = []
        names = ", ".join(f"'recordings/{demo.name}'" for demo in (first, second))
        drop = f"(async () => {{ const all = new DataTransfer(); for (const name of [{names}]) all.items.add(new File([await (await fetch(name)).blob()], " \
               "name)); dispatchEvent(new DragEvent('drop', { dataTransfer: all })); })()"
        for tick in ticks:
            for ghost in ("", f"&ghost=recordings/{second.name}"):
                asked.append(self.page(base, first.name, f"0:00{ghost}", size=SIZE, shot=str(shots / f"{tick}{bool(ghost)}.png"), steps=[
                    ALONE, "key:m", "wait:500", f"teewire_viewer.set_playing(false); teewire_viewer.seek({tick})", "teewire_viewer.settled",
                    "wait:400"]))
        asked.append(self.page(base, second.name, "0:00", size=SIZE, shot=str(shots / "dropped.png"), steps=[drop, "wait:1500", *asked[-1]["steps"]]))
        for result, tick in zip(pages(*asked), [tick for tick in ticks for _ in "01"] + ticks[-1:], strict=True):
            self.assertEqual((result["errors"], result["states"][-1]["tick"]), ([], tick))
        self.assertEqual(pixels(shots / "dropped.png"), pixels(shots / f"{ticks[-1]}True.png"))
        for tick in ticks:
            without, beside = (pixels(shots / f"{tick}{ghost}.png") for ghost in (False, True))
            film = shots / f"{tick}.y4m"
            subprocess.run([TEEWIRE, "video", first, "--ghost", second, "--from", str(tick), "--to", str(tick + 1), "--fps", "50",
                            "--size", f"{SIZE[0]}x{SIZE[1]}", "--no-names", "--hud", "none", "-o", film, "-q"], check=True)
            own = pixels(film)[:len(beside)]
            if KEPT:
                shutil.copy(shots / f"{tick}True.png", KEPT / f"ghost_{tick}_browser.png")
            # A film has other colours, by a little, but what is half seen through is farther from the ground than that.
            far = [sum(abs(a - b) > FAR / 2 for a, b in zip(own, shown, strict=True)) / len(own) for shown in (beside, without)]
            print(f"{100 * far[0]:6.2f} %, without the ghost {100 * far[1]:.2f} %", file=sys.stderr)
            self.assertLess(far[0], far[1] / 4)


if __name__ == "__main__":
    if shutil.which("ffmpeg") is None:
        print("SKIPPED: there is no ffmpeg")
        sys.exit(77)
    test_viewer.MODULES = browsers.needed(browsers.PLAYWRIGHT)
    unittest.main(argv=sys.argv[:1], verbosity=2)
