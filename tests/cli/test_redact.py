#!/usr/bin/env python3
"""teewire redact: what goes is nowhere any more, and everything else is as it was. Usage: test_redact.py TEEWIRE FIXTURES"""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import demo_codec
from demo_codec import pack_int, text_ints
from program import TEEWIRE, run_bytes

FIXTURES = pathlib.Path(sys.argv[2]).resolve() / "demos"
CORPUS = pathlib.Path(os.environ.get("TEEWIRE_CORPUS") or "/nowhere", "demos")


def states(file):
    """(tick, known items without names and skins, {(id, name, clan)}) of each snapshot."""
    process = subprocess.Popen([TEEWIRE, "dump", file], stdout=subprocess.PIPE)
    for line in process.communicate()[0].splitlines():
        snapshot = json.loads(line)
        people = set()
        for number, info in snapshot["items"].get("client_info", {}).items():
            people.add((number, info.pop("name", None), info.pop("clan", None)))
            info.pop("skin", None)
            info.pop("skin_part_names", None)
        items = {name: of_type for name, of_type in snapshot["items"].items()
                 if not name.startswith(("type_", "uuid_", "extended_type"))}
        yield snapshot["tick"], items, people


def told(file):
    return run_bytes("play", "--speed", "1000", file)[1].decode(errors="replace")


def spoken(file):
    """(speaker, text) of each line of the form that chat has."""
    return re.findall(r"(?m)^[0-9:.]+ +(.+?): (.*)$", told(file))


class Redact(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out.demo"

    def redact(self, file, *options, code=0):
        done = run_bytes("redact", file, "-o", self.out, "--force", *options)
        self.assertEqual(done[0], code, done[2])
        return done[2]

    def check(self, file, code=0):
        self.redact(file, code=code)
        self.assertEqual(run_bytes("verify", self.out)[0], 0)
        names, clans, renamed = set(), set(), {}
        ours = states(self.out)
        for tick, items, people in states(file):
            new = next(ours)
            self.assertEqual((tick, items), new[:2])
            self.assertEqual(len(people), len(new[2]))
            by_id = {number: (name, clan) for number, name, clan in new[2]}
            for number, name, clan in people:
                if name:
                    self.assertRegex(by_id[number][0], "^player [0-9]+$")
                    self.assertEqual(renamed.setdefault(name, by_id[number][0]), by_id[number][0])
                    names.add(name)
                if clan:
                    self.assertRegex(by_id[number][1] or "", "^(clan [0-9]+)?$")
                    clans.add(clan)
        self.assertIsNone(next(ours, None))
        self.assertEqual(len(set(renamed.values())), len(renamed))
        said = {text for speaker, text in spoken(file) if speaker in names}
        self.assertEqual([line for line in spoken(self.out) if line[0] in renamed.values()], [])
        text = told(self.out) + run_bytes("dump", self.out)[1].decode()
        raw = self.out.read_bytes()
        map_bytes = json.loads(run_bytes("info", "--format", "ndjson", self.out)[1].splitlines()[0])["map"]["size"]
        for name in names | clans:
            if len(name.encode()) >= 3 and re.search("[^0-9 ]", name) and name not in "teewire player clan":
                self.assertNotIn(name.encode(), raw[484 + map_bytes:])
                self.assertNotIn(name, re.sub(r"(player|clan) [0-9]+", "", text) if name.isascii() else text)
        for line in said:
            if len(line.encode()) >= 5:
                self.assertNotIn(line.encode(), raw[484 + map_bytes:])
                self.assertNotIn(line, text)
        return names, said

    def test_everything(self):
        for name, line in (("ddnet_dm1.demo", None), ("ddnet_yard.demo", "hello"),
                           ("teeworlds07_dm1.demo", "où est la clé ?")):
            with self.subTest(demo=name):
                names, said = self.check(FIXTURES / name)
                self.assertTrue(names)
                self.assertEqual(line in said, line is not None)

    def test_corpus(self):
        if not CORPUS.is_dir():
            self.skipTest("TEEWIRE_CORPUS names no folder with demos")
        for file in sorted(CORPUS.glob("*.demo")):
            if file.stat().st_size < 400 << 10:
                with self.subTest(demo=file.name):
                    self.check(file, code=run_bytes("verify", file)[0])

    def test_what(self):
        file = FIXTURES / "teeworlds07_dm1.demo"
        before = told(file)
        names = {name for _, _, people in states(file) for _, name, _ in people}
        self.redact(file, "--what", "names")
        after = told(self.out)
        self.assertEqual(len(after.splitlines()), len(before.splitlines()))
        for name in names:
            self.assertNotIn(name, after)
        self.redact(file, "--what", "chat")
        self.assertEqual({name for _, _, people in states(self.out) for _, name, _ in people}, names)
        self.assertLess(len(told(self.out).splitlines()), len(before.splitlines()))

    def test_some(self):
        file = FIXTURES / "ddnet_dm1.demo"
        self.redact(file, "--keep", "bot01,bot02")
        names = {name for _, _, people in states(self.out) for _, name, _ in people}
        self.assertEqual({n for n in names if n.startswith("bot")}, {"bot01", "bot02"})
        self.assertIn("bot01", told(self.out))
        self.redact(file, "--players", "bot03")
        people = {(name, clan) for _, _, people in states(self.out) for _, name, clan in people}
        self.assertEqual({name for name, _ in people if name.startswith("player")}, {name for name, _ in people} -
                         {"bot00", "bot01", "bot02", "bot04", "bot05"})
        self.assertEqual({clan for name, clan in people if name.startswith("bot")}, {"bots"})
        self.assertNotIn("bot03", told(self.out))

    def test_players_that_are_not_there(self):
        """A misspelt name must not leave its player in the demo."""
        for option in ("--players", "--keep"):
            code, _, error = run_bytes("redact", FIXTURES / "ddnet_dm1.demo", "-o", self.out, option, "bot03,nobody")
            self.assertEqual(code, 2)
            self.assertRegex(error, rf"{option}: there is no player nobody; there are: .*bot00, bot01, bot02, ")
            self.assertFalse(self.out.exists())

    def test_damage(self):
        cut = self.out.parent / "cut.demo"
        data = (FIXTURES / "ddnet_dm1.demo").read_bytes()
        cut.write_bytes(data[:len(data) * 2 // 3])
        self.assertIn("everything before it is kept", self.redact(cut, code=1))
        self.assertEqual(run_bytes("verify", self.out)[0], 0)
        self.assertEqual(len(list(states(self.out))), len(list(states(cut))))

    def test_usage(self):
        code, _, error = run_bytes("redact", FIXTURES / "ddnet_dm1.demo", "-o", self.out, "--what", "faces")
        self.assertEqual(code, 2)
        self.assertIn("faces is not names, clans, skins, chat or server", error)
        self.assertFalse(self.out.exists())


# ---- nothing of a person is left in any text --------------------------------------------------------------------------

# Texts that stay, as they come from maps and programs. All others go.
HARMLESS = {"map_change.name", "map_details.name", "maplist_add.names", "maplist_entry_add.name", "maplist_entry_rem.name",
            "map_data.data", "server_info.map", "server_info.version", "it_is.name", "rcon_cmd_add.name", "rcon_cmd_add.help",
            "rcon_cmd_add.parameters", "rcon_cmd_rem.name", "command_info.name", "command_info.parameters",
            "command_info.help", "command_info_remove.name", "command_info_07.name", "command_info_07.parameters",
            "command_info_07.help", "command_info_remove_07.name"}
NET_VERSIONS = {"0.6": b"0.6 0123456789abcdef", "ddnet": b"0.6 626fce9a778df4d4", "0.7": b"0.7 802f1be60a05665f"}
SIZED = {"0.6": 20, "ddnet": 20, "0.7": 22}  # the last type whose size deltas leave out
UNKNOWN_UUID = bytes(range(100, 116))
UNKNOWN_TYPE = 50


class Everywhere:
    """A recording with another text in every place that can hold one."""

    def __init__(self, protocol, kind):
        self.numbers = itertools.count()
        self.used = {}  # text: place
        self.protocol = protocol
        types = [json.loads(line) for line in run_bytes("types", "--protocol", protocol, "--format", "ndjson")[1].splitlines()]
        self.items = [t for t in types if t["kind"] == "item"]
        self.messages = [t for t in types if t["kind"] == "message"]
        self.sizes = {t["type"]: t["ints"] for t in self.items if t["uuid"] is None and t["type"] <= SIZED[protocol]}
        self.demo = demo_codec.Writer(NET_VERSIONS[protocol], kind)
        for tick in (100, 102, 104):
            self.demo.snapshot(tick, self.all_items())
            self.demo.message(self.chat(-1, "chat by the server"))
            self.demo.message(self.chat(3, "chat by a player"))
            self.demo.message(self.chat(99, "chat by an unknown client"))
            for message in self.messages:
                for _ in range(2):
                    self.demo.message(self.head(message) + b"".join(self.field(message, f) for f in message["fields"]))
            for unknown in (pack_int(120 << 1), pack_int(120 << 1 | 1), pack_int(0) + UNKNOWN_UUID, pack_int(1) + UNKNOWN_UUID):
                self.demo.message(unknown + self.text("unknown message") + b"\0")
            self.demo.message(self.chat(-1, "chat with more after it") + self.text("after chat") + b"\0\0\0\0")

    def text(self, place):
        text = b"qX%04dz" % next(self.numbers)
        self.used[text] = place
        return text

    def chat(self, client, place):
        chat = next(m for m in self.messages if m["name"] == "chat")
        target = pack_int(-1) if self.protocol == "0.7" else b""
        return self.head(chat) + pack_int(0) + pack_int(client) + target + self.text(place) + b"\0"

    def head(self, message):
        if message["uuid"] is None:
            return pack_int(message["id"] << 1 | message["system"])
        return pack_int(int(message["system"])) + bytes.fromhex(message["uuid"].replace("-", ""))

    def field(self, message, f):
        place = f"{message['name']}.{f['name']}"
        if f["type"] in ("text", "texts"):
            return b"".join(self.text(place) + b"\0" for _ in range(f["count"] if f["type"] == "text" else 3))
        if f["type"] == "uuid":
            secret = place == "client_version.connection"
            return b"".join((self.text(place) if secret else b"").ljust(16, b"u") for _ in range(f["count"]))
        if f["type"] == "sha256":
            return bytes(32)
        if f["type"] == "data":
            return self.text(place)
        if f["type"] == "sized_data":
            return self.sized_data(message, place)
        if f["type"] == "sized_ints":
            return pack_int(8) + pack_int(1) + pack_int(2)
        return b"".join(pack_int(self.int_of(f["name"])) for _ in range(f["count"]))

    def int_of(self, name):
        return {"client_id": 3, "parts": 2, "part": 0, "timeout": 10}.get(name, 1)

    def sized_data(self, message, place):
        if message["name"] == "map_data":
            data = self.text(place)
        else:  # a delta to nothing with a client
            info = next(t for t in self.items if t["name"] == "client_info")
            data = demo_codec.pack_ints([0, 1, 0, info["type"], 0, *self.item_ints(info, place)])
        return pack_int(len(data)) + data

    def item_ints(self, known, place, leave_out=None):
        ints = [5] * known["ints"]
        for f in known["fields"]:
            for n in range(f["count"]) if f["type"] == "text" else ():
                if f["name"] == leave_out:
                    ints[f["offset"]:f["offset"] + f["ints"]] = text_ints(b"", f["ints"])
                    continue
                begin = f["offset"] + n * f["ints"]
                # There is room after the end of the text, too.
                text = self.text(f"{place}{f['name']}")
                hidden = self.text(f"{place}{f['name']}, after its end") if f["ints"] >= 4 else b""
                ints[begin:begin + f["ints"]] = text_ints((text + b"\0" + hidden)[:4 * f["ints"] - 1], f["ints"])
        return ints

    def all_items(self):
        items, alias = [], 0x7fff
        for known in self.items:
            ints = lambda: self.item_ints(known, known["name"] + ".")
            if known["uuid"] is None:
                items += [(known["type"], number, ints()) for number in (3, 4)]
                continue
            uuid = bytes.fromhex(known["uuid"].replace("-", ""))
            items += [(0, alias, self.uuid_ints(uuid) + text_ints(self.text("after a UUID"), 4)),
                      (alias, 3, ints() + text_ints(self.text("after an item"), 4))]
            alias -= 1
        items += [(0, alias, self.uuid_ints(UNKNOWN_UUID)), (alias, 3, text_ints(self.text("unknown extended item"), 4)),
                  (alias - 1, 3, text_ints(self.text("item without a type"), 4)),
                  (0, 7, text_ints(self.text("type of a plain number"), 4)),
                  (UNKNOWN_TYPE, 3, text_ints(self.text("unknown item"), 4)),
                  (0xfff0, 3, text_ints(self.text("item of a negative type"), 4))]
        info = next(t for t in self.items if t["name"] == "client_info")
        items.append((info["type"], 5, self.item_ints(info, "nameless ", leave_out="name")))
        return sorted(items, key=lambda i: (i[0], i[1]))

    def uuid_ints(self, uuid):
        return [int.from_bytes(uuid[n:n + 4], "big", signed=True) for n in range(0, 16, 4)]

    def left_in(self, demo):
        """{text: place} of what is to be found in a demo, in any form"""
        forms = [demo]
        for kind, content in demo_codec.read_demo(demo, self.sizes):
            forms += [content] if kind == demo_codec.MESSAGE else self.forms_of(itertools.chain(*content.values()))
        for _, ints in demo_codec.read_chunks(demo):
            forms += self.forms_of(ints)
        everything = b"\n".join(forms).lower()
        return {text: place for text, place in self.used.items() if text.lower() in everything}

    @staticmethod
    def forms_of(ints):
        ints = list(ints)
        yield demo_codec.ints_text(ints)
        for order in ("little", "big"):
            yield b"".join(i.to_bytes(4, order, signed=True) for i in ints)


class Everything(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_text(self):
        for protocol, kind in itertools.product(NET_VERSIONS, (b"client", b"server")):
            with self.subTest(protocol=protocol, kind=kind):
                made = Everywhere(protocol, kind)
                source, out = self.folder / "source.demo", self.folder / "out.demo"
                source.write_bytes(made.demo.out)
                self.assertEqual(run_bytes("verify", source)[0], 0)
                # The search finds everything, except what had no room after the end of a text.
                self.assertEqual({place for place in made.used.values() if "after its end" not in place} -
                                 set(made.left_in(bytes(made.demo.out)).values()) - self.in_nested(), set())
                code, report, error = run_bytes("redact", source, "-o", out, "--force", "--format", "ndjson")
                self.assertEqual(code, 0, error)
                left = made.left_in(out.read_bytes())
                self.assertEqual(set(left.values()) - HARMLESS, set())
                self.assertTrue(set(left.values()) & HARMLESS)  # which stay
                self.assertEqual(run_bytes("verify", out)[0], 0)
                self.check_report(made, [json.loads(line) for line in report.splitlines()])

    def in_nested(self):
        """Places whose ints are packed once more."""
        return {f"{snap}.data{field}" for snap in ("snap", "snap_single") for field in ("name", "clan", "skin", "skin_part_names")}

    def check_report(self, made, report):
        counts = {(line["action"], line.get("reason"), line["kind"]): line["count"] for line in report}
        self.assertGreater(counts["replaced", None, "names"], 6)
        self.assertEqual(counts["left out", "unknown", f"type_{UNKNOWN_TYPE}"], 3)
        self.assertEqual(counts["left out", "snapshot", "snap_single"], 6)
        self.assertEqual(counts["left out", "chat", "chat"], 6 + 2 * 3)
        self.assertEqual(counts["emptied", "server", "vote_set"], 6)

    def test_keep_unknown(self):
        made = Everywhere("ddnet", b"server")
        source, out = self.folder / "source.demo", self.folder / "out.demo"
        source.write_bytes(made.demo.out)
        self.assertEqual(run_bytes("redact", source, "-o", out, "--keep-unknown")[0], 0)
        left = set(made.left_in(out.read_bytes()).values()) - HARMLESS
        self.assertLessEqual({"unknown item", "unknown extended item", "unknown message", "after an item"}, left)
        self.assertFalse([place for place in left if re.search(r"chat by|client_info|name|vote|password", place)])

    def test_names_in_other_texts(self):
        """Names and clans go from the texts that stay, in upper and lower case."""
        demo = demo_codec.Writer()
        info = text_ints(b"Alice", 4) + text_ints(b"RoyalGuard", 3) + [0] + text_ints(b"default", 6) + [0, 0, 0]
        demo.snapshot(100, [(11, 3, info), (11, 4, text_ints(b"bob", 4) + [0] * 4 + text_ints(b"", 6) + [0] * 3)])
        demo.message(bytes([3 << 1, 0, 4]) + b"alice ALICE royalguard\0")
        demo.message(bytes([3 << 1, 0, 0x40]) + b"'Alice' came\0")
        source, out = self.folder / "source.demo", self.folder / "out.demo"
        source.write_bytes(demo.out)
        for options in (["--what", "names,clans"], ["--keep", "bob"], ["--players", "Alice"]):
            with self.subTest(options=options):
                self.assertEqual(run_bytes("redact", source, "-o", out, "--force", *options)[0], 0)
                text = b"".join(content if kind == demo_codec.MESSAGE else
                                demo_codec.ints_text(itertools.chain(*content.values()))
                                for kind, content in demo_codec.read_demo(out.read_bytes(), {})).lower()
                self.assertNotIn(b"alice", text)
                self.assertNotIn(b"royalguard", text)
                self.assertIn(b"player 1 player 1 clan 1", text)
                self.assertEqual(b"player 1' came" in text, options[0] == "--what")

    def test_server_demos(self):
        """No name of a player is left in redacted recordings of servers."""
        if not CORPUS.is_dir():
            self.skipTest("TEEWIRE_CORPUS names no folder with demos")
        found = 0
        for file in sorted(CORPUS.glob("*.demo")):
            if file.stat().st_size > 2 << 20 or b"server" not in file.read_bytes()[144:152]:
                continue
            found += 1
            with self.subTest(demo=file.name):
                out = self.folder / "out.demo"
                code = run_bytes("redact", file, "-o", out, "--force")[0]
                self.assertIn(code, (0, 1))
                names = {name.encode() for _, _, people in states(file) for _, name, _ in people if name and len(name) >= 4}
                forms = [out.read_bytes()]
                for kind, ints in demo_codec.read_chunks(forms[0]):
                    forms += Everywhere.forms_of(ints)
                everything = b"\n".join(forms)
                self.assertEqual({name for name in names if name in everything}, set())
        self.assertGreater(found, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
