#!/usr/bin/env python3
"""`teewire map info` tells of every real map what an independent program found in it, and the other commands get along
with all of them. Usage: test_map_program.py TEEWIRE"""
import functools
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import run, run_bytes  # noqa: E402
from real_demos import CORPUS, SHARE  # noqa: E402

MAPS = sorted((CORPUS / "maps").glob("*.map"))
# Parts that are not in the file, or are that program's own.
NOT_COMPARED = {"file", "source", "readers", "notes"}


def run(*arguments, **options):
    return run_bytes("map", *arguments, **options)


@functools.cache
def info_of(file):
    """For files that do not change."""
    return info(file)


def info(file):
    code, out, err = run("info", "--format", "ndjson", file)
    assert (code, err) == (0, ""), (file, code, err)
    return json.loads(out)


def differences(expected, shown, place):
    """Keys that are shown but not expected are fine."""
    if isinstance(expected, dict) and isinstance(shown, dict):
        for key, value in expected.items():
            if key in shown:
                yield from differences(value, shown[key], f"{place}.{key}")
            else:
                yield f"{place}.{key} is missing, should be {value!r}"
    elif isinstance(expected, list) and isinstance(shown, list) and len(expected) == len(shown):
        for i, pair in enumerate(zip(expected, shown)):
            yield from differences(*pair, f"{place}[{i}]")
    elif expected != shown:
        yield f"{place} is {shown!r}, should be {expected!r}"


class Maps(unittest.TestCase):
    def test_expected_values(self):
        self.assertGreater(len(MAPS), 50)
        for file in MAPS:
            expected = json.loads((CORPUS / "expected/maps" / f"{file.stem}.json").read_text())
            expected = {key: value for key, value in expected.items() if key not in NOT_COMPARED}
            self.assertEqual(list(differences(expected, info_of(file), file.stem)), [])

    def test_what_real_programs_think(self):
        for file in MAPS:
            readers = json.loads((CORPUS / "expected/maps" / f"{file.stem}.json").read_text())["readers"]
            code, out, _ = run("check", "--format", "ndjson", file)
            problems = [json.loads(line) for line in out.splitlines()]
            refused = any(p["severity"] == "error" for p in problems)
            damaged = any(p["severity"] == "damage" for p in problems)
            self.assertEqual(refused, readers["ddnet"] != "accepts", file)
            self.assertEqual(code, int(refused or damaged), file)

    def test_render_and_convert(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            for file in MAPS[::SHARE]:
                old = file.stem in ("hist-65ea2ce91f6d", "hist-c48d84ac868f")  # from before there were maps of today
                for layer in ("all", "game"):
                    code, _, err = run("render", file, "--layer", layer, "--scale", 1, "--force", "-o", out)
                    self.assertEqual(code, int(old), (file, err))
                code, _, err = run("convert", file, "--datafile", 3, "--force", "-o", out)
                self.assertEqual(code, 0, (file, err))
                again = pathlib.Path(folder) / "again"
                code, _, err = run("convert", out, "--datafile", 4, "--force", "-o", again)
                self.assertEqual(code, 0, (file, err))
                before, after = info_of(file), info(again)
                for key in ("item_types", "layers", "images"):
                    self.assertEqual(before.get(key), after.get(key), file)
                self.assertEqual([d["sha256"] for d in before["data"]], [d["sha256"] for d in after["data"]], file)

    def test_games(self):
        with tempfile.TemporaryDirectory() as folder:
            there, back = pathlib.Path(folder) / "07", pathlib.Path(folder) / "06"
            for file in MAPS[::SHARE]:
                if run("check", file)[0] != 0:
                    continue
                self.assertEqual(run("convert", file, "--to", "0.7", "--force", "-o", there)[0], 0, file)
                self.assertEqual(run("convert", there, "--to", "0.6", "--force", "-o", back)[0], 0, file)
                for a, b in zip(info(there)["layers"], info(back)["layers"], strict=True):
                    self.assertEqual((a["kind"], a.get("width"), a.get("size_ok")),
                                     (b["kind"], b.get("width"), b.get("size_ok")), file)

    def test_demos(self):
        """Every demo that embeds a map."""
        seen = 0
        for file in sorted((CORPUS / "demos").glob("*.demo")):
            with file.open("rb") as f:
                head = f.read(144)
            size = int.from_bytes(head[136:140], "big")
            code, out, _ = run("info", "--format", "ndjson", file)
            if size == 0:
                self.assertEqual(code, 2, file)
                continue
            shown = json.loads(out)
            self.assertEqual((code, shown["bytes"], shown["crc32"]), (0, size, head[140:144].hex()), file)
            seen += 1
        self.assertGreater(seen, 5)


class XVector(unittest.TestCase):
    def test_files(self):
        for file in sorted((CORPUS / "xvector").glob("*.map")):
            code, out, err = run("check", file)
            readable = not file.stem.startswith(("bad_", "hand_trailing"))
            self.assertEqual(code, 0 if readable else 2 if file.stem == "bad_magic" else 1, (file, out))
            if file.stem.startswith(("r1_", "hand_")):
                shown = json.loads(run("info", "--format", "ndjson", file)[1])
                self.assertEqual(shown["layout"], "original_program")
                code, picture, _ = run("render", file, "-o", "-")
                self.assertEqual((code, picture[:4]), (0, b"\x89PNG"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
