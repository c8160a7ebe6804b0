#!/usr/bin/env python3
"""Pictures and videos of demos. Usage: test_video.py TEEWIRE FIXTURES"""
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

from in_folder import InFolder
from program import TEEWIRE, run, run_bytes

FIXTURES = pathlib.Path(sys.argv[2])
YARD = FIXTURES / "demos/ddnet_yard.demo"
DM1 = FIXTURES / "demos/ddnet_dm1.demo"
SEVEN = FIXTURES / "demos/teeworlds07_dm1.demo"
RACES = FIXTURES / "races"
SMALL = ("--size", "160x90")


def size_of(png):
    return struct.unpack(">II", png[16:24])


def colors_in(png):
    """How many bytes differ in the pixels of a PNG."""
    data, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += 12 + size
    return len(set(zlib.decompress(data)))


def pixels_of(png):
    return subprocess.run(["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], input=png, check=True,
                          capture_output=True).stdout


def frames_of(y4m):
    header, rest = y4m.split(b"\n", 1)
    words = header.split()
    width, height = (int(words[n][1:]) for n in (1, 2))
    size = 6 + width * height * 3 // 2
    assert len(rest) % size == 0 and all(rest[n:n + 6] == b"FRAME\n" for n in range(0, len(rest), size))
    return words, [rest[n + 6:n + size] for n in range(0, len(rest), size)]


class Pictures(InFolder):
    def picture(self, demo, *options):
        size = () if "--size" in options else SMALL
        code, png, said = run_bytes("picture", demo, "-o", "-", "-q", *size, *options)
        self.assertEqual((code, said), (0, ""), options)
        return png

    def test_pictures(self):
        for demo in (YARD, DM1, SEVEN):
            png = self.picture(demo)
            self.assertEqual(size_of(png), (160, 90))
            self.assertGreater(colors_in(png), 20)
        first, later = self.picture(YARD, "--at", "0:01"), self.picture(YARD, "--at", "0:03")
        self.assertTrue(first != later)
        # However many threads, and from an archive.
        for jobs in ("1", "2", "5"):
            self.assertTrue(self.picture(YARD, "--at", "0:01", "--jobs", jobs) == first, jobs)
        archive = self.folder / "yard.demo.tda"
        self.assertEqual(run("compress", YARD, "-o", archive)[0], 0)
        self.assertTrue(self.picture(archive, "--at", "0:01") == first)
        # Times before the beginning or after the end give the first or the last moment.
        self.assertTrue(self.picture(YARD, "--at", "9:00") == self.picture(YARD, "--at", "8:00"))
        self.assertTrue(self.picture(YARD, "--at", "1") == self.picture(YARD, "--at", "2"))
        large = ("--at", "0:01", "--size", "640x360")
        for options in (("--zoom", "3"), ("--center", "3,4"), ("--no-names",)):
            self.assertTrue(self.picture(YARD, *large, *options) != self.picture(YARD, *large), options)

    def test_two_players(self):
        """Each half is the picture of its player."""
        if shutil.which("ffmpeg") is None:
            self.skipTest("there is no ffmpeg")
        names = sorted({p["name"] for line in run("dump", DM1, "--type", "client_info")[1].splitlines()
                        for p in json.loads(line)["items"].get("client_info", {}).values()})[:2]
        at = ("--at", "1500", "--size", "160x90")
        both = pixels_of(self.picture(DM1, *at, "--follow", names[0], "--beside", names[1]))
        for n, name in enumerate(names):
            one = pixels_of(self.picture(DM1, "--at", "1500", "--size", "80x90", "--follow", name))
            half = b"".join(both[y * 480 + n * 240:y * 480 + n * 240 + 240] for y in range(90))
            self.assertTrue(one == half, name)
        said = run("picture", DM1, "-o", self.folder / "x.png", "--beside", "absent")[2]
        self.assertIn('--beside: no player "absent" is there at tick ', said)

    def test_hud(self):
        """Each part changes the picture; without names, nothing that may hold some is shown."""
        at = ("--at", "0:15", "--size", "640x360")
        pictures = {hud: self.picture(SEVEN, *at, "--hud", hud) for hud in
                    ("none", "chat", "kills", "clock", "status", "keys", "speed", "chat,kills,clock,status")}
        self.assertEqual(len(set(pictures.values())), len(pictures))
        self.assertTrue(self.picture(SEVEN, *at) == pictures["chat,kills,clock,status"])
        self.assertTrue(self.picture(SEVEN, *at, "--hud", "chat", "--hud", "kills,clock,status") == pictures["chat,kills,clock,status"])
        self.assertTrue(self.picture(SEVEN, *at, "--no-names", "--hud", "chat,kills") == self.picture(SEVEN, *at, "--no-names", "--hud", "none"))
        code, _, said = run("picture", SEVEN, "-o", self.folder / "x.png", "--hud", "chat,scores")
        self.assertEqual((code, said), (2, "teewire: --hud: scores is not one of chat, kills, clock, status, keys, speed, none\n"))

    def test_players(self):
        name = next(iter(json.loads(run("dump", YARD, "--type", "client_info")[1].splitlines()[-1])["items"]["client_info"].values()))["name"]
        self.assertGreater(colors_in(self.picture(YARD, "--at", "0:03", "--follow", name)), 20)
        code, out, said = run("picture", YARD, "-o", self.folder / "x.png", "--follow", "nobody")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(said, r'--follow: no player "nobody" is there at tick \d+')
        self.assertFalse((self.folder / "x.png").exists())
        self.assertIn("no player \"#99\"", run("picture", YARD, "-o", self.folder / "x.png", "--follow", "#99")[2])

    def test_ghost_race(self):
        """Two real runs of 5.88 s and 5.98 s, that start at other times of their demos."""
        first, second = RACES / "ddnet_first.demo", RACES / "ddnet_second.demo"
        empty = ("--data", self.folder, "--no-names", "--hud", "none", "--size", "320x180", "--at")
        picture = self.folder / "x.png"
        code, _, said = run("picture", first, "--ghost", second, "-o", picture, *empty, "0:03")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"the races begin in \S*ddnet_first\.demo at 0:00\.78, and in \S*ddnet_second\.demo at 0:00\.76\n$")


        def seen(demo, other, at):
            """How many parts of pixels a ghost changes much."""
            with_ghost, without = (pixels_of(self.picture(demo, *more, *empty, at)) for more in (("--ghost", other), ()))
            return sum(abs(a - b) > 40 for a, b in zip(with_ghost, without))

        self.assertGreater(seen(first, second, "0:03"), 50)
        # It is hidden by the tee that does the same, and moved by as much as the runs are.
        later = self.folder / "later.demo"
        self.assertEqual(run("cut", first, "--from", "0:00.6", "-o", later)[0], 0)
        for demo, other, at in ((first, first, "0:00.5"), (first, first, "0:06"), (first, later, "0:03"), (later, first, "0:02.4")):
            self.assertLess(seen(demo, other, at), 15, (demo, other))
        # Before it began and after it ended, there is none.
        self.assertEqual(seen(first, later, "0:00.3"), 0)
        for demos, bad in (((YARD, first), YARD), ((first, YARD), YARD)):
            code, _, said = run("picture", demos[0], "--ghost", demos[1], "-o", self.folder / "none.png")
            self.assertEqual((code, said), (1, f"teewire: {bad}: there is no race in it, or none whose clock it shows\n"))
        self.assertFalse((self.folder / "none.png").exists())
        cut_off = self.save("cut.demo", second.read_bytes()[:20000])
        code, _, said = run("video", first, "--ghost", cut_off, "-o", self.folder / "x.y4m", *SMALL, "--fps", "5")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"cut\.demo: .*; the video stays at the last moment before it\n$")
        self.assertIn("is an input and cannot also be the output", run("picture", first, "--ghost", later, "-o", later, "--force")[2])

    def test_without_data(self):
        """Our own pictures, where no game is installed."""
        png = self.picture(YARD, "--at", "0:01", "--data", self.folder)
        self.assertGreater(colors_in(png), 20)
        code, _, said = run("picture", DM1, "-o", self.folder / "x.png", "--data", self.folder, "--size", "64x64")
        self.assertEqual(code, 0)
        self.assertIn("without the map dm1, which is not in the demo; use --map FILE", said)
        # With a picture that is none.
        (self.folder / "game.png").write_bytes(b"no picture")
        self.assertTrue(self.picture(YARD, "--at", "0:01", "--data", self.folder) == png)

    def test_damage(self):
        chosen = random.Random(7)
        for demo in (YARD, SEVEN):
            whole = demo.read_bytes()
            for n in range(25):
                changed = bytearray(whole[:chosen.randrange(500, len(whole))] if n % 2 else whole)
                for _ in range(chosen.randrange(4)):
                    changed[chosen.randrange(480, len(changed))] = chosen.randrange(256)
                bad = self.save("bad.demo", changed)
                code, _, said = run("picture", bad, "-o", self.folder / "bad.png", "--force", *SMALL, "--at", "0:03")
                self.assertIn(code, (0, 1, 2), said)
                if code != 0:
                    self.assertRegex(said, r"^teewire: .*bad\.demo: ")
        map_begin = 484
        for n in range(25): # its map
            changed = bytearray(YARD.read_bytes())
            for _ in range(1 + chosen.randrange(30)):
                changed[map_begin + chosen.randrange(4900)] = chosen.randrange(256)
            code, _, said = run("picture", self.save("map.demo", changed), "-o", self.folder / "map.png", "--force", *SMALL)
            self.assertIn(code, (0, 1), said)

    def test_refusals(self):
        here = self.folder / "x.mp4"
        cases = ((["picture", YARD, "-o", here, "--size", "12"], "--size: 12 is not WIDTHxHEIGHT"),
                 (["picture", YARD, "-o", here, "--size", "9000x1"], "each up to 8192"),
                 (["picture", YARD, "-o", here, "--font", YARD], "is not a font that can be read"),
                 (["picture", YARD, "-o", here, "--data", YARD], "is not a folder"),
                 (["picture", FIXTURES / "maps/ddnet.map", "-o", here], "ddnet.map"),
                 (["video", YARD, "-o", self.folder / "x.avi"], "name ends in neither .mp4, .webm, .gif nor .y4m"),
                 (["video", YARD, "-o", here, "--size", "101x50"], "width and height of a video are even"),
                 (["video", YARD, "-o", here, "--from", "0:03", "--to", "0:01"], "is after --to"),
                 (["video", YARD, "-o", here, "--around", "chat:nothing of that"], "nothing matches --around"),
                 (["video", YARD, "-o", here, "--size", "64x64", "--vertical"], "--vertical is a --size: 1080x1920"))
        for arguments, words in cases:
            with self.subTest(words):
                code, out, said = run(*arguments)
                self.assertEqual((code, out), (2, ""), said)
                self.assertIn(words, said)
        self.assertEqual(list(self.folder.iterdir()), [])


class Videos(InFolder):
    def y4m(self, *options):
        code, video, said = run_bytes("video", YARD, "-o", "-", "-q", "--format", "y4m", *SMALL, *options)
        self.assertEqual((code, said), (0, ""))
        return frames_of(video)

    def test_sound(self):
        """Samples of a fixed tone are heard when the demo has a sound, and not at other times."""
        if shutil.which("ffmpeg") is None:
            self.skipTest("without ffmpeg")
        game = self.folder / "game"
        audio = game / "audio"
        audio.mkdir(parents=True)
        tone = self.folder / "tone.wv"
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=1000:duration=0.04,volume=8", tone], check=True)
        for name, count in (("wp_gun_fire", 3), ("wp_shotty_fire", 3), ("wp_flump_launch", 3), ("wp_hammer_swing", 3), ("wp_hammer_hit", 3),
                            ("wp_flump_explo", 3), ("vo_teefault_pain_short", 12), ("vo_teefault_spawn", 7), ("foley_body_splat", 4),
                            ("sfx_pickup_hrt", 2), ("sfx_pickup_arm", 4), ("hook_attach", 3), ("foley_body_impact", 3)):
            for n in range(count):
                shutil.copy(tone, audio / f"{name}-{n + 1:02}.wv")
        known = {"gun_fire", "shotgun_fire", "grenade_fire", "hammer_fire", "grenade_explode", "player_pain_short", "player_die",
                 "pickup_health", "pickup_armor", "hook_attach_ground", "hook_attach_player"}
        lines = [json.loads(line) for line in run("dump", SEVEN, "--type", "character,event_sound_world,event_hammer_hit,event_spawn")[1].splitlines()]
        first, seconds = lines[0]["tick"], 12
        heard = set()
        for line in lines:
            items = line["items"]
            if items.get("event_hammer_hit") or items.get("event_spawn") or any(
                    i["sound_id"] in known for i in items.get("event_sound_world", {}).values()):
                heard.add((line["tick"] - first) / 50)
        self.assertGreater(len(heard), 10)
        file = self.folder / "heard.mp4"
        small = ("--size", "64x36", "--map", FIXTURES / "maps/teeworlds07.map")
        self.assertEqual(run("video", SEVEN, "-o", file, *small, "--data", game, "--to", f"0:{seconds}")[0], 0)
        rate = 8000
        samples = subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-ac", "1", "-ar", str(rate), "-f", "s16le", "-"], check=True,
                                 capture_output=True).stdout
        self.assertAlmostEqual(len(samples) / 2 / rate, seconds, delta=0.05)
        loud = [abs(value) > 200 for (value,) in struct.iter_unpack("<h", samples)]
        span = rate // 50
        for n in range(0, len(loud) - span, span):
            at = n / rate
            if not any(-0.08 <= at - t <= 0.1 for t in heard):
                self.assertFalse(any(loud[n:n + span]), at)
        times = [t for t in sorted(heard) if t < seconds - 0.1]
        found = sum(any(loud[int(t * rate):int((t + 0.06) * rate)]) for t in times)
        self.assertGreater(found, len(times) * 2 // 3) # the others are too far away
        # Without, on request and where there are no samples.
        quiet = self.folder / "quiet.mp4"
        for lacks, *wanted in ((False, "--data", game, "--no-sound"), (True, "--data", self.folder)):
            code, _, said = run("video", SEVEN, "-o", quiet, "--force", "--to", "0:01", *small, *wanted)
            self.assertEqual(code, 0)
            self.assertEqual("without sound, as no game has samples" in said, lacks)
            self.assertEqual(subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", quiet], check=True,
                                            capture_output=True, text=True).stdout.split(), ["video"])
        (audio / "wp_gun_fire-02.wv").write_bytes(b"no sample")
        code, _, said = run("video", SEVEN, "-o", quiet, "--force", "--to", "0:01", *small, "--data", game)
        self.assertEqual(code, 0)
        self.assertIn("without sound", said)

    def test_frames(self):
        words, frames = self.y4m("--from", "0:01", "--to", "0:02", "--fps", "30")
        self.assertEqual(words[:4], [b"YUV4MPEG2", b"W160", b"H90", b"F30:1"])
        self.assertEqual(len(frames), 30)
        self.assertGreater(len(set(frames)), 10)
        self.assertEqual(len(self.y4m("--from", "0:01", "--to", "0:02", "--fps", "59.94", "--speed", "0.5")[1]), 120)
        self.assertEqual(self.y4m("--from", "0:01", "--to", "0:02", "--fps", "59.94")[0][3], b"F2997:50")
        self.assertTrue(self.y4m("--from", "0:01", "--to", "0:02", "--fps", "30", "--jobs", "1")[1] == frames)
        # Out of black and back; what is between stays.
        _, faded = self.y4m("--from", "0:01", "--to", "0:02", "--fps", "30", "--fade", "0.2")
        size = 160 * 90
        brightness = [sum(f[:size]) for f in faded]
        self.assertEqual(set(faded[0][:size]), {16})
        self.assertEqual(brightness[:6], sorted(brightness[:6]))
        self.assertEqual(brightness[-6:], sorted(brightness[-6:], reverse=True))
        self.assertEqual(set(faded[-1][:size]), {16})
        self.assertTrue(faded[6:24] == frames[6:24])
        # Pieces follow each other.
        _, around = self.y4m("--around", "chat:hello", "--before", "0.5", "--after", "0.5", "--fps", "10")
        self.assertGreaterEqual(len(around), 10)

    def test_a_frame_is_the_picture(self):
        _, frames = self.y4m("--from", "0:01", "--to", "0:02", "--fps", "25")
        code, png, _ = run_bytes("picture", YARD, "-o", "-", "--at", "0:01.4", *SMALL)
        self.assertEqual(code, 0)
        if shutil.which("ffmpeg") is None:
            self.skipTest("without ffmpeg")
        convert = ["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vf",
                   "scale=out_color_matrix=bt709:out_range=tv", "-"]
        expected = subprocess.run(convert, input=png, capture_output=True, check=True).stdout
        found = frames[10]
        self.assertEqual(len(found), len(expected))
        self.assertLess(sum(abs(a - b) for a, b in zip(found, expected)) / len(found), 1.5)

    def test_formats(self):
        if shutil.which("ffmpeg") is None:
            self.skipTest("without ffmpeg")
        for ending, codec in (("mp4", "h264"), ("webm", "vp9"), ("gif", "gif")):
            with self.subTest(ending):
                file = self.folder / f"clip.{ending}"
                code, out, said = run("video", YARD, "-o", file, "--from", "0:01", "--to", "0:02", "--fps", "25", "--size", "160x90")
                self.assertEqual((code, out), (0, ""), said)
                self.assertIn("1.0 seconds, 25 frames", said)
                probed = json.loads(subprocess.run(
                    ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,height,r_frame_rate,nb_read_frames",
                     "-of", "json", file], capture_output=True, check=True).stdout)["streams"][0]
                self.assertEqual((probed["codec_name"], probed["width"], probed["height"], int(probed["nb_read_frames"])), (codec, 160, 90, 25))
                self.assertEqual(probed["r_frame_rate"], "25/1")
        code, video, _ = run_bytes("video", YARD, "-o", "-", "--format", "mp4", "--from", "0:01", "--to", "0:01.2", *SMALL)
        self.assertEqual((code, video[4:8]), (0, b"ftyp"))
        self.assertEqual(sorted(f.name for f in self.folder.iterdir()), ["clip.gif", "clip.mp4", "clip.webm"])

    def test_without_ffmpeg(self):
        done = subprocess.run([TEEWIRE, "video", YARD, "-o", self.folder / "x.mp4"], capture_output=True, text=True,
                              env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("needs the program ffmpeg, which is not installed", done.stderr)
        # One that fails.
        broken = self.folder / "ffmpeg"
        broken.write_text("#!/bin/sh\nexit 3\n")
        broken.chmod(0o755)
        done = subprocess.run([TEEWIRE, "video", YARD, "-o", self.folder / "x.mp4", *SMALL], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, "ffmpeg (has ended early|failed with code 3)")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["ffmpeg"])

    @unittest.skipIf(os.name == "nt", "needs a shell")
    def test_an_encoder_that_is_late(self):
        """It ends with the program, and makes no file afterwards."""
        tools = self.folder / "tools"
        tools.mkdir()
        late = tools / "ffmpeg"
        late.write_text('#!/bin/sh\nfor last; do :; done\nsleep 2\n: > "${last#file:}"\n')
        late.chmod(0o755)
        process = subprocess.Popen([TEEWIRE, "video", YARD, "-o", self.folder / "x.mp4", "--no-sound", "--size", "1280x720", "--fps", "240"],
                                   stderr=subprocess.PIPE, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        time.sleep(2.5)
        self.assertEqual([f.name for f in self.folder.iterdir()], ["tools"])

    def test_no_half_video(self):
        if os.path.exists("/dev/full"):
            code, _, said = run("video", YARD, "-o", "/dev/full", "--format", "y4m", *SMALL)
            self.assertEqual(code, 3)
            self.assertIn("cannot be written: No space left on device", said)
        formats = ["y4m"] + (["mp4"] if shutil.which("ffmpeg") else [])
        for ending in formats:
            process = subprocess.Popen([TEEWIRE, "video", YARD, "-o", self.folder / f"x.{ending}", "--size", "1280x720", "--fps", "240",
                                        "--speed", "0.1"], stderr=subprocess.PIPE)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
