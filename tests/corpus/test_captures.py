#!/usr/bin/env python3
"""teewire capture on every real capture: the expected values, and demos that equal those of the recording clients.
Usage: test_captures.py TEEWIRE"""
import bisect
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import run  # noqa: E402
from real_demos import CORPUS, SHARE  # noqa: E402


# Messages in 0.7. Clients write them into their demos as items: the programs differ in whom they take for a player, and DDNet's
# shifts the tuning by one.
FROM_MESSAGES = ("client_info", "game_info", "tune_params")


def snapshots(demo):
    """{tick: items} of the ticks in which something changed."""
    code, out, err = run("dump", demo)
    assert code == 0, err
    return {s["tick"]: s["items"] for s in map(json.loads, out.splitlines())}


def own_demos(capture):
    """The demos that the clients in a capture recorded of it."""
    name = capture.name.split(".")[0]
    pattern = f"{name}*client*" if name.startswith("chillerdragon") else f"{name.split('_')[0]}_client*"
    return sorted((CORPUS / "demos").glob(pattern + ".demo"))


class Captures(unittest.TestCase):
    def setUp(self):
        self.captures = sorted((CORPUS / "pcap").iterdir())
        self.assertGreaterEqual(len(self.captures), 18)

    def test_expected_values(self):
        found = 0
        for capture in self.captures:
            expected = json.loads((CORPUS / "expected/pcap" / f"{capture.stem}.json").read_text())
            code, out, err = run("capture", "--format", "ndjson", capture)
            self.assertEqual(code, 0, capture)
            got = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([{k: c[k] for k in e} for c, e in zip(got, expected)], expected, capture)
            self.assertEqual(len(got), len(expected))
            self.assertEqual([c["malformed"] for c in got], [0] * len(got))
            found += len(got)
        print(f"{len(self.captures)} captures, {found} connections")

    def test_fields_of_messages(self):
        """The known fields of messages are those that real programs send. Other messages are printed as bytes."""
        seen = set()
        for capture in self.captures:
            _, out, _ = run("capture", "--explain", capture)
            for line in re.findall(r"^  \d+ bytes?[,:].*", out, re.M):
                name, fields = re.match(r"[^:]*: ([^:]*)(?:: (.*))?", line).groups()
                seen.add(name)
                # DDNet 20.1.1 asks for map data by 0.6's number in 0.7 too, where that is enter_game.
                known = ("tune_params", "no message", "enter_game")
                if name not in known and not name.startswith("uuid_"):
                    self.assertNotRegex(fields or "", r"^([0-9a-f]{2}( |$))+(\.\.\.)?$", (capture, line))
        self.assertGreater(len(seen), 50)

    def test_demos(self):
        """Every connection makes demos that verify, and they hold what the client's own demo holds."""
        compared, exact = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            for capture in self.captures[::SHARE]:
                connections = [json.loads(line) for line in run("capture", "--format", "ndjson", capture)[1].splitlines()]
                wanted = own_demos(capture)
                demos = []
                # Those of many bots are alike.
                for c in connections if wanted else connections[:3]:
                    name = pathlib.Path(folder) / f"{capture.name}_{c['number']}.demo"
                    code, _, err = run("capture", capture, "-o", name, "--connection", c["number"])
                    self.assertEqual(code, 0, err)
                    demos += sorted(name.parent.glob(name.stem + "*.demo"))
                self.assertGreater(len(demos), 0)
                code, out, err = run("verify", "--strict", *demos)
                self.assertEqual((code, err), (0, ""), out)
                mine = {demo: snapshots(demo) for demo in demos} if wanted else {}
                for demo in wanted:
                    theirs = snapshots(demo)
                    if max(map(len, theirs.values()), default=0) == 0:
                        continue  # recorded during a handshake
                    best = max((self.compare(theirs, ours) for ours in mine.values()))
                    self.assertEqual(best[0], best[1], demo)
                    self.assertGreaterEqual(best[1], len(theirs) - 12, demo)
                    compared[demo.name] = max(best[1], compared.get(demo.name, 0))
                    exact[demo.name] = max(best[2], exact.get(demo.name, 0))
        self.assertGreaterEqual(len(compared), 25 // SHARE - (SHARE > 1))
        print(f"{len(compared)} demos of clients: {sum(compared.values())} snapshots are the same, "
              f"{sum(exact.values())} with what 0.7 tells by messages too")

    @staticmethod
    def compare(theirs, ours):
        """How many are the same, of how many ticks that both have, and how many are so in every item. In ticks without a
        line, nothing has changed: the two began to record at different ticks, so that these differ."""
        ticks = sorted(ours)
        is_07 = any("game_data" in items for items in ours.values())

        def comparable(items):
            return {name: values for name, values in items.items() if not is_07 or name not in FROM_MESSAGES}

        same = both = exact = 0
        for tick, items in theirs.items():
            if not ticks or not ticks[0] <= tick <= ticks[-1]:
                continue
            state = ours[ticks[bisect.bisect_right(ticks, tick) - 1]]
            both += 1
            same += comparable(items) == comparable(state)
            exact += items == state
        return same, both, exact


if __name__ == "__main__":
    if not (CORPUS / "pcap").is_dir():
        print("SKIPPED: TEEWIRE_CORPUS names no folder of real captures")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
