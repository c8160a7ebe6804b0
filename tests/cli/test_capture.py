#!/usr/bin/env python3
"""teewire capture on captures of simulated sessions, in every container and link layer. Usage: test_capture.py TEEWIRE
MAKE_CAPTURE FIXTURES"""
import datetime
import json
import os
import pathlib
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from limits import STUCK, STUCK_AT_WORK
from program import TEEWIRE, run

MAKE_CAPTURE = sys.argv[2]
FIXTURES = pathlib.Path(sys.argv[3])
MUTATIONS = int(os.environ.get("TEEWIRE_MUTATIONS", "60"))

ETHERNET, COOKED_1, COOKED_2, NULL, LOOP, RAW, IPV4, IPV6 = 1, 113, 276, 0, 108, 101, 228, 229


def capture(*arguments, **options):
    return run("capture", *arguments, **options)


def connections(*arguments, stdin=b""):
    code, out, err = capture("--format", "ndjson", *arguments, stdin=stdin)
    return code, [json.loads(line) for line in out.splitlines()], err


def read_pcap(data):
    """[(microseconds, frame)] of a little-endian capture."""
    frames, at = [], 24
    while at < len(data):
        seconds, fraction, size, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**6 + fraction, data[at + 16:at + 16 + size]))
        at += 16 + size
    return frames


def write_pcap(frames, link=ETHERNET, order="<", nanoseconds=False, snap_length=262144):
    unit = 1000 if nanoseconds else 1
    out = [struct.pack(order + "IHHIIII", 0xa1b23c4d if nanoseconds else 0xa1b2c3d4, 2, 4, 0, 0, snap_length, link)]
    for time, frame in frames:
        kept = frame[:snap_length]
        out.append(struct.pack(order + "IIII", time // 10**6, time % 10**6 * unit, len(kept), len(frame)) + kept)
    return b"".join(out)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def write_pcapng(frames, link=ETHERNET, order="<", resolution=6):
    out = block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))
    option = struct.pack(order + "HHB3xHH", 9, 1, resolution, 0, 0)
    out += block(order, 1, struct.pack(order + "HHI", link, 0, 0) + option)
    out += block(order, 5, struct.pack(order + "III", 0, 0, 0))  # statistics: to be passed over
    for time, frame in frames:
        if resolution == 9:
            time *= 1000
        elif resolution & 0x80:
            time = (time << (resolution & 0x7f)) // 10**6
        out += block(order, 6, struct.pack(order + "IIIII", 0, time >> 32, time & 0xffffffff, len(frame), len(frame)) + frame)
    return out


def write_interfaces(frames, links):
    """A pcapng file with an interface for each of `links`, a number and the bytes that stand there before an IP packet.
    They take turns."""
    out = block("<", 0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    for link, _ in links:
        out += block("<", 1, struct.pack("<HHI", link, 0, 0))
    for n, (time, frame) in enumerate(frames):
        which = n % len(links)
        frame = links[which][1] + frame[14:]
        out += block("<", 6, struct.pack("<IIIII", which, time >> 32, time & 0xffffffff, len(frame), len(frame)) + frame)
    return out


def fragments_of(ip, number, size):
    """The IPv4 packet in fragments of at most `size` bytes, which is a multiple of 8."""
    body = ip[20:]
    for at in range(0, len(body), size):
        part = body[at:at + size]
        place = at // 8 | (0x2000 if at + size < len(body) else 0)
        yield ip[:2] + struct.pack(">HHH", 20 + len(part), number, place) + ip[8:20] + part


def fragments6_of(ip6, number, size):
    body = ip6[40:]
    for at in range(0, len(body), size):
        part = body[at:at + size]
        head = struct.pack(">BBHI", 17, 0, at | (at + size < len(body)), number)
        yield ip6[:4] + struct.pack(">HB", len(part) + 8, 44) + ip6[7:40] + head + part


def to_ipv6(ip):
    """The same datagram between IPv6 addresses made of the IPv4 ones."""
    prefix = bytes.fromhex("fd00") + bytes(10)
    return struct.pack(">IHBB", 6 << 28, len(ip) - 20, 17, 64) + prefix + ip[12:16] + prefix + ip[16:20] + ip[20:]


def with_extensions(ip6):
    """With a destination options header and an atomic fragment header."""
    more = bytes([44, 0, 1, 4, 0, 0, 0, 0]) + bytes([17, 0, 0, 0, 0, 0, 0, 1])
    return ip6[:4] + struct.pack(">HB", len(ip6) - 40 + len(more), 60) + ip6[7:40] + more + ip6[40:]


def link_variants(frames):
    """(name, link type, frames) for every way to say the same."""
    ip = [(time, frame[14:]) for time, frame in frames]
    ip6 = [(time, to_ipv6(packet)) for time, packet in ip]
    ether = bytes(12)

    def each(packets, head):
        return [(time, head + packet) for time, packet in packets]

    yield "ethernet", ETHERNET, frames
    yield "ethernet padded", ETHERNET, [(t, f + bytes(max(0, 60 - len(f)))) for t, f in frames]
    yield "vlan", ETHERNET, each(ip, ether + bytes.fromhex("8100 0005 0800"))
    yield "vlan in vlan", ETHERNET, each(ip, ether + bytes.fromhex("88a8 0005 8100 0006 0800"))
    yield "ethernet, ipv6", ETHERNET, each(ip6, ether + bytes.fromhex("86dd"))
    yield "ethernet, ipv6 extensions", ETHERNET, each([(t, with_extensions(p)) for t, p in ip6], ether + bytes.fromhex("86dd"))
    yield "cooked 1", COOKED_1, each(ip, bytes.fromhex("0000 0304 0006 0000 0000 0000 0000 0800"))
    yield "cooked 1, ipv6", COOKED_1, each(ip6, bytes.fromhex("0000 0304 0006 0000 0000 0000 0000 86dd"))
    yield "cooked 2", COOKED_2, each(ip, bytes.fromhex("0800 0000 0000 0001 0304 0006 0000 0000 0000 0000"))
    yield "cooked 2, ipv6", COOKED_2, each(ip6, bytes.fromhex("86dd 0000 0000 0001 0304 0006 0000 0000 0000 0000"))
    yield "null", NULL, each(ip, struct.pack("<I", 2))
    yield "null of a big-endian machine", NULL, each(ip, struct.pack(">I", 2))
    yield "null, ipv6", NULL, each(ip6, struct.pack("<I", 30))
    yield "loop", LOOP, each(ip, struct.pack(">I", 2))
    yield "raw", RAW, ip
    yield "raw, ipv6", RAW, ip6
    yield "ipv4", IPV4, ip
    yield "ipv6", IPV6, ip6
    yield "ipv4 without lengths", RAW, [(t, p[:2] + bytes(2) + p[4:]) for t, p in ip]


ADDRESSES = ("client", "server")


def without_addresses(found):
    return [{k: v for k, v in c.items() if k not in ADDRESSES} for c in found]


class Captures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.outcomes = {}
        for name, demo, place, formats in (
                ("ddnet", "ddnet_dm1", "server", ["ddnet", "0.6.5"]), ("07", "teeworlds07_dm1", "server", ["0.7"]),
                ("lossy", "ddnet_dm1", "server", ["ddnet:8", "0.6.5:8"]), ("lossy07", "teeworlds07_dm1", "server", ["0.7:8"]),
                ("arriving", "ddnet_dm1", "client", ["ddnet:8", "0.6.5:8"]),
                ("arriving07", "teeworlds07_dm1", "client", ["0.7:8"])):
            file = cls.folder / f"{name}.pcap"
            made = subprocess.run([MAKE_CAPTURE, FIXTURES / f"demos/{demo}.demo", file, place, "15", *formats], check=True,
                                  capture_output=True, timeout=STUCK_AT_WORK).stdout.decode()
            cls.outcomes[name] = [line.split() for line in made.splitlines()]
        cls.ddnet = (cls.folder / "ddnet.pcap").read_bytes()
        cls.frames = read_pcap(cls.ddnet)
        cls.expected = connections(cls.folder / "ddnet.pcap")[1]

    def put(self, name, data):
        file = self.folder / name
        file.write_bytes(data)
        return file

    def snapshots(self, demo):
        code, out, err = run("dump", demo)
        self.assertEqual((code, err), (0, ""))
        return {s["tick"]: s["items"] for s in map(json.loads, out.splitlines())}


class Sessions(Captures):
    def test_connections(self):
        for name, protocols in (("ddnet", ["ddnet", "0.6.5"]), ("07", ["0.7"]), ("lossy", ["ddnet", "0.6.5"]), ("lossy07", ["0.7"]),
                                ("arriving", ["ddnet", "0.6.5"]), ("arriving07", ["0.7"])):
            code, found, err = connections(self.folder / f"{name}.pcap")
            self.assertEqual((code, err), (0, ""), name)
            self.assertEqual([c["packet_format"] for c in found], protocols)
            for number, (c, outcome) in enumerate(zip(found, self.outcomes[name], strict=True)):
                self.assertEqual(c["number"], number + 1)
                self.assertEqual(c["client"], f"10.0.0.2:{40000 + number}")
                self.assertEqual(c["server"], "10.0.0.1:8303")
                self.assertEqual(c["protocol"], "0.7" if "07" in name else "0.6")
                self.assertEqual((c["checksum_bad"], c["undecodable"], c["malformed"]), (0, 0, 0))
                self.assertEqual(c["snapshots"], c["checksum_ok"] + c["empty"])
                self.assertEqual(c["player"], f"tee{40000 + number}")
                if "lossy" not in name:  # there it may not arrive
                    self.assertEqual((c["closed_by"], c["close_reason"]), ("client", "enough"))
                # The server sees everything that it sends, and clients leave out what comes late.
                self.assertGreaterEqual(c["snapshots"], int(outcome[0]))
                self.assertGreater(int(outcome[0]), 100)
                self.assertEqual(c["missing_base"], 0)
                (stay,) = c["maps"]
                self.assertEqual((stay["name"], stay["size"], stay["downloaded"]), ("made_up", 50000, True))
                self.assertEqual(c["losses"]["usual_distance"], 2)
                sent = c["from_server"]["messages"]
                self.assertEqual(sum(sent.get(n, {"count": 0})["count"] for n in ("snap", "snap_single", "snap_empty")) >=
                                 c["snapshots"], True)
                self.assertGreater(sent["map_data"]["bytes"], 50000)
                self.assertGreater(c["items"]["character"]["count"], 100)
                items = sum(i["bytes"] for i in c["items"].values()) + c["removed_items"]["bytes"]
                self.assertLessEqual(items, c["delta_bytes"])
                self.assertGreater(items, 0.9 * c["delta_bytes"])
                if "arriving" in name:
                    self.assertGreater(c["losses"]["late"], 0)
                    self.assertGreater(c["losses"]["gaps"], 5)
                    self.assertGreater(c["from_server"]["vital_repeated"], 5)
                elif "lossy" not in name:
                    for side in ("from_server", "from_client"):
                        self.assertEqual((c[side]["vital_repeated"], c[side]["vital_missing"]), (0, 0))

    def test_text(self):
        code, out, err = capture(self.folder / "ddnet.pcap")
        self.assertEqual((code, err), (0, ""))
        for text in ("2 connections", "#1 10.0.0.2:40000 -> 10.0.0.1:8303  0.6, DDNet", "#2", "0.6.5", "tee40001",
                     "made_up, 50.0 kB", "downloaded", "none wrong", "losses       none", "character"):
            self.assertIn(text, out)
        code, one, err = capture(self.folder / "ddnet.pcap", "--connection", 2)
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("#1", one)
        self.assertEqual(one, capture(self.folder / "ddnet.pcap", "--connection", "10.0.0.2:40001")[1])

    def test_explain(self):
        code, out, err = capture(self.folder / "07.pcap", "--explain")
        self.assertEqual((code, err), (0, ""))
        (found,) = connections(self.folder / "07.pcap")[1]
        self.assertEqual(out.count("\nframe ") + 1, found["from_server"]["packets"] + found["from_client"]["packets"])
        messages = sum(m["count"] for side in ("from_server", "from_client") for m in found[side]["messages"].values())
        chunks = [line for line in out.splitlines() if re.match(r"  \d+ bytes?[,:]", line)]
        self.assertEqual(len(chunks), messages)
        self.assertEqual(out.count(": checksum right") + out.count(", checksum right"), found["checksum_ok"])
        changed = sum(1 for line in out.splitlines() if line.startswith(("    + ", "    ~ ")))
        self.assertEqual(changed, sum(i["count"] for i in found["items"].values()))
        removed = sum(1 for line in out.splitlines() if line.startswith("    - "))
        self.assertEqual(removed, found["removed_items"]["count"])
        for text in ("control: token", "control: connect", "map_change: name \"made_up\", crc ", ", size 50000", "input: ack ", "~ character",
                     "reason \"enough\""):
            self.assertTrue(text in out, text)

    def test_help_and_usage(self):
        code, out, _ = capture("--help")
        self.assertEqual(code, 0)
        self.assertIn("--explain", out)
        file = self.folder / "ddnet.pcap"
        for arguments in ([], [file, "--format", "xml"], [file, "--explain", "--format", "ndjson"], [file, "--map", file],
                          [file, "--connection", "3"], [file, "--connection", "10.0.0.9:1"]):
            code, out, err = capture(*arguments)
            self.assertEqual((code, out), (2, ""), arguments)
            self.assertNotEqual(err, "")
        self.assertIn("10.0.0.2:40001", capture(file, "--connection", "3")[2])  # which there are

    def test_files_that_are_none(self):
        (self.folder / "none").mkdir()
        for name, text, code in ((self.folder / "no-such", "no such file", 3),
                                 (self.folder / "none", "has no packet captures in it", 2),
                                 (FIXTURES / "MANIFEST.tsv", "not a packet capture", 2),
                                 (self.put("empty", b""), "not a packet capture", 1),
                                 (self.put("wifi.pcap", write_pcap(self.frames[:9], link=105)), "802.11", 2)):
            found, out, err = capture(name)
            self.assertEqual((found, out), (code, ""), name)
            self.assertIn(text, err)

    def test_without_games(self):
        other = [(0, b"\xff" * 12 + bytes.fromhex("0806") + bytes(28)), (1, bytes(12) + bytes.fromhex("0800 4500 0014") + bytes(16)),
                 (2, self.frames[0][1][:42] + b"GET / HTTP/1.1")]
        code, out, err = capture(self.put("other.pcap", write_pcap(other)))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("3 frames in 0:00.0, 0 connections", out)
        self.assertIn("1 datagram outside any connection\n", out)
        code, out, err = capture(self.folder / "other.pcap", "-o", self.folder / "none.demo")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no connection", err)
        self.assertFalse((self.folder / "none.demo").exists())

    def test_server_info(self):
        """Requests to servers, without players."""
        asked = [(n, self.frames[0][1][:42] + b"xe" + bytes(4) + b"\xff" * 4 + b"gie3" + bytes(1)) for n in range(2)]
        other = (2, self.frames[0][1][:42] + b"GET / HTTP/1.1")
        code, out, err = capture(self.put("info.pcap", write_pcap([*asked, other])))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("3 datagrams outside any connection, 2 of them about server info\n", out)

    def test_progress_and_interrupt(self):
        master, slave = pty.openpty()
        running = subprocess.Popen([TEEWIRE, "capture", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        shown = ""
        running.stdin.write(self.ddnet)
        running.stdin.flush()
        more = write_pcap([(0, bytes(60))])[24:] * 1000
        while not re.search(r"\d+ frames, 2 connections", shown):  # it is a while until something is shown
            running.stdin.write(more)
            running.stdin.flush()
            while select.select([master], [], [], 0)[0]:
                shown += os.read(master, 1000).decode()
        running.send_signal(signal.SIGINT)
        out = running.stdout.read().decode()
        self.assertEqual(running.wait(timeout=STUCK), 130)
        self.assertIn("#1 10.0.0.2:40000", out)  # what was read until then
        os.close(master)


class Containers(Captures):
    def check_same(self, name, data):
        for source, found in ((name, connections(self.put("variant.pcap", data))), (name + ", piped", connections("-", stdin=data))):
            code, got, err = found
            self.assertEqual((code, err), (0, ""), source)
            if "ipv6" in name:
                self.assertEqual(got[0]["client"], "[fd00::a00:2]:40000")
                got, expected = without_addresses(got), without_addresses(self.expected)
            else:
                expected = self.expected
            self.assertEqual(got, expected, source)

    def test_link_layers(self):
        for name, link, frames in link_variants(self.frames):
            self.check_same(name, write_pcap(frames, link))

    def test_containers(self):
        for order in "<>":
            for nanoseconds in (False, True):
                self.check_same(f"pcap {order} {nanoseconds}", write_pcap(self.frames, order=order, nanoseconds=nanoseconds))
            for resolution in (6, 9):
                self.check_same(f"pcapng {order} {resolution}", write_pcapng(self.frames, order=order, resolution=resolution))
        # 2^-20 seconds do not hit every microsecond
        code, got, err = connections(self.put("variant.pcap", write_pcapng(self.frames, resolution=0x80 | 20)))
        self.assertEqual([c["checksum_sum"] for c in got], [c["checksum_sum"] for c in self.expected])

    def test_interfaces(self):
        """Each interface of a pcapng file has its own link layer."""
        ethernet = (ETHERNET, bytes(12) + bytes.fromhex("0800"))
        cooked = (COOKED_1, bytes.fromhex("0000 0304 0006 0000 0000 0000 0000 0800"))
        self.check_same("interfaces", write_interfaces(self.frames, [ethernet, cooked, (RAW, b"")]))
        code, out, err = capture(self.put("variant.pcap", write_interfaces(self.frames, [cooked, ethernet])))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("Linux cooked v1 and Ethernet, ", out)
        # Frames of an interface that cannot be read are left out, also if it is the first.
        data = write_interfaces(self.frames, [ethernet])
        usb = block("<", 1, struct.pack("<HHI", 189, 0, 0))
        of_usb = block("<", 6, struct.pack("<IIIII4x", 0, 0, 0, 4, 4))
        moved = bytearray(data[:28] + usb + data[28:48] + of_usb)
        at = 48
        while at < len(data):
            size = struct.unpack_from("<I", data, at + 4)[0]
            moved += data[at:at + 8] + struct.pack("<I", 1) + data[at + 12:at + size]
            at += size
        code, got, err = connections(self.put("variant.pcap", moved))
        self.assertEqual(code, 0)
        self.assertIn("1 frame left out, of interfaces whose link layer is unreadable", err)
        self.assertEqual([c["checksum_sum"] for c in got], [c["checksum_sum"] for c in self.expected])
        code, out, err = capture(self.put("variant.pcap", bytes(moved[:48]) + of_usb))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("a capture of USB, which are unreadable", err)

    def test_sections(self):
        """A section begins the numbers of interfaces again, and has its own byte order."""
        middle = len(self.frames) // 2
        self.check_same("sections", write_pcapng(self.frames[:middle]) + write_pcapng(self.frames[middle:], order=">"))

    def test_damaged_blocks(self):
        good = write_pcapng(self.frames[:50])
        frame = good.index(block("<", 5, bytes(12))) + 24
        for text, at, value in (("a block of 13 bytes", frame + 4, 13), ("a block of 4294967292 bytes", frame + 4, 0xfffffffc),
                                ("of interface 1, of which the file has 1", frame + 8, 1),
                                ("in a block of", frame + 20, 0xffffffff), ("says 7 at its end", len(good) - 4, 7)):
            bad = bytearray(good)
            struct.pack_into("<I", bad, at, value)
            code, found, err = connections(self.put("damaged.pcapng", bad))
            self.assertEqual(code, 1, text)
            self.assertRegex(err, rf"frame \d+ at byte \d+: .*{text}")

    def test_fragments(self):
        """Datagrams in IP fragments, whatever their order and however often they come."""
        for name, cut, to_packet, head in (("", fragments_of, lambda p: p, "0800"),
                                           (" ipv6", fragments6_of, to_ipv6, "86dd")):
            for order in ("in order", "reversed", "twice"):
                frames = []
                for number, (time, frame) in enumerate(self.frames):
                    parts = list(cut(to_packet(frame[14:]), number & 0xffff, 64))
                    if order == "reversed":
                        parts.reverse()
                    if order == "twice" and len(parts) > 1:
                        parts.insert(0, parts[0])
                    frames += [(time, bytes(12) + bytes.fromhex(head) + part) for part in parts]
                code, got, err = connections(self.put("fragments.pcap", write_pcap(frames)))
                self.assertEqual((code, err), (0, ""), order + name)
                for key in ("snapshots", "checksum_sum", "from_server"):
                    self.assertEqual([c.get(key) for c in got], [c.get(key) for c in self.expected], order + name)

    def test_fragments_that_lack_others(self):
        parts = list(fragments_of(self.frames[0][1][14:], 7, 8))
        self.assertGreater(len(parts), 2)
        ethernet = bytes(12) + bytes.fromhex("0800")
        overlapping = parts[1][:6] + struct.pack(">H", 0x2000) + parts[1][8:] + bytes(8)
        lone = [(0, ethernet + parts[0]), (1, ethernet + overlapping[:2] + struct.pack(">H", 36) + overlapping[4:])]
        code, got, err = connections(self.put("fragments.pcap", write_pcap(lone + [(1, bytes(14))] + self.frames)))
        self.assertIn("2 IP fragments left out: the rest of the datagram is missing", err)
        self.assertEqual([c["checksum_sum"] for c in got], [c["checksum_sum"] for c in self.expected])
        # Any number of them takes a bounded part of memory, and none is put together with those of long before.
        many = [(n, ethernet + parts[0][:4] + struct.pack(">H", n & 0xffff) + parts[0][6:]) for n in range(1000)]
        late = [(40 * 10**6, ethernet + part[:4] + struct.pack(">H", 999) + part[6:]) for part in parts[1:]]
        code, out, err = capture(self.put("fragments.pcap", write_pcap(many + late)))
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"{1000 + len(late)} IP fragments left out", out)

    def test_files_of_one_capture(self):
        """As tcpdump and dumpcap write them in turn, given in any order, and as two that ran side by side."""
        third = len(self.frames) // 3
        split = [self.frames[:third], self.frames[third:2 * third], self.frames[2 * third:]]
        for name, parts in (("in turn", split), ("another order", [split[2], split[0], split[1]]),
                            ("side by side", [self.frames[::2], self.frames[1::2]])):
            files = [self.put(f"game.pcap{n}", write_pcap(part)) for n, part in enumerate(parts)]
            code, got, err = connections("--together", *files)
            self.assertEqual((code, err), (0, ""), name)
            self.assertEqual(got, self.expected, name)
        demo = self.folder / "together.demo"
        code, out, err = capture(*files, "-o", demo)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--together", err)
        self.assertEqual(capture("--together", *files, "-o", demo)[0], 0)
        whole = self.folder / "whole.demo"
        self.assertEqual(capture(self.folder / "ddnet.pcap", "-o", whole)[0], 0)
        self.assertEqual(self.snapshots(demo), self.snapshots(whole))
        # Damage ends one file, and the others go on.
        files = [self.put(f"game.pcap{n}", write_pcap(part)) for n, part in enumerate(split)]
        self.put("game.pcap1", write_pcap(split[1])[:-1])
        code, got, err = connections("--together", *files)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"and 2 more: \S+game.pcap1: frame \d+ at byte \d+: the file ends within")
        self.assertGreater(sum(c["snapshots"] for c in got), sum(c["snapshots"] for c in self.expected) // 2)

    def test_cut_frames(self):
        code, out, err = capture(self.put("cut.pcap", write_pcap(self.frames, snap_length=200)))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("frames were truncated when captured", out)
        self.assertIn("has 200 of", out)


class Trouble(Captures):
    def test_cut_files(self):
        whole = self.ddnet
        for container, data in (("pcap", whole), ("pcapng", write_pcapng(self.frames))):
            last = None
            for size in (len(data) - 1, len(data) * 2 // 3 + 1, len(data) // 3, 30):
                code, found, err = connections(self.put("short", data[:size]))
                self.assertEqual(code, 1, (container, size))
                self.assertRegex(err, r"frame \d+ at byte \d+: |byte \d+: ")
                count = sum(c["snapshots"] for c in found)
                if last is not None:
                    self.assertLess(count, last)
                elif container == "pcap":
                    self.assertEqual([c["checksum_sum"] for c in found], [c["checksum_sum"] for c in self.expected])
                last = count

    def test_loss(self):
        """The capture lacks a tenth of the frames that were there: checksums stay right, and losses are counted."""
        for name in ("ddnet", "07"):
            frames = read_pcap((self.folder / f"{name}.pcap").read_bytes())
            rng = random.Random(5)
            kept = [f for f in frames if rng.random() > 0.1]
            code, got, err = connections(self.put("loss.pcap", write_pcap(kept)))
            whole = connections(self.folder / f"{name}.pcap")[1]
            self.assertEqual((code, err), (0, ""))
            for c, w in zip(got, whole, strict=True):
                self.assertEqual((c["checksum_bad"], c["undecodable"]), (0, 0))
                self.assertLess(c["snapshots"], w["snapshots"])
                self.assertGreater(c["losses"]["not_captured"], 5)
                self.assertGreater(c["from_server"]["vital_missing"], 3)

    def test_disorder_and_repetition(self):
        """Beside what happens on the way to a client, captures themselves may hold frames twice and exchanged."""
        for name in ("ddnet", "07"):
            file = self.folder / f"{name}.pcap"
            frames, rng = read_pcap(file.read_bytes()), random.Random(6)
            from_client = [struct.unpack_from(">H", f, 34)[0] != 8303 for _, f in frames]
            # Nothing comes before what it answers: frames of clients move back, over others of theirs and of the server.
            mixed = sorted(((i + (rng.randrange(8) if i > 20 and late and rng.random() < 0.2 else 0), f)
                            for (i, f), late in zip(enumerate(frames), from_client)), key=lambda each: each[0])
            mixed = [f for _, f in mixed for _ in range(2 if rng.random() < 0.1 else 1)]
            code, got, err = connections(self.put("mixed.pcap", write_pcap(mixed)))
            self.assertEqual((code, err), (0, ""))
            for c, w in zip(got, connections(file)[1], strict=True):
                for key in ("snapshots", "checksum_ok", "checksum_bad", "undecodable", "checksum_sum", "max_items"):
                    self.assertEqual(c[key], w[key], (name, key))
                self.assertTrue(c["maps"][0]["downloaded"])
                self.assertEqual((c["from_server"]["vital_missing"], c["from_client"]["vital_missing"]), (0, 0))
                self.assertGreater(c["losses"]["repeated"], 10)

    def test_late_start(self):
        """Nothing is known of the map, and no base either: decoding begins where a full snapshot is sent."""
        frames = self.frames
        middle = frames[len(frames) // 2:]
        code, got, err = connections(self.put("middle.pcap", write_pcap(middle)))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual({c["client"] for c in got}, {c["client"] for c in self.expected})
        for c in got:
            self.assertGreater(c["missing_base"], 50)
            self.assertEqual((c["checksum_bad"], c["undecodable"]), (0, 0))
            self.assertLess(c["from_server"]["vital_missing"], 5)
        # A client that acknowledges nothing makes the server restart: here by the whole capture, repeated after the middle.
        later = [(time + 10**8, frame) for time, frame in frames]
        code, got, err = connections(self.put("middle.pcap", write_pcap(middle + later)))
        for c, w in zip(sorted(got, key=lambda c: c["client"]), self.expected, strict=True):
            self.assertEqual((c["snapshots"], c["checksum_sum"]), (w["snapshots"], w["checksum_sum"]))

    def test_reconnect(self):
        twice = self.frames + [(time + 10**8, frame) for time, frame in self.frames]
        code, got, err = connections(self.put("twice.pcap", write_pcap(twice)))
        self.assertEqual((code, err), (0, ""))
        for c, w in zip(got, self.expected, strict=True):
            self.assertEqual((c["snapshots"], c["missing_base"]), (2 * w["snapshots"], 0))
            self.assertEqual(len(c["maps"]), 2)
            self.assertEqual([m["snapshots"] for m in c["maps"]], 2 * [w["snapshots"]])

    def test_malformed_packets(self):
        rng = random.Random(7)
        frames = list(self.frames)
        for time, frame in self.frames[50:80]:
            broken = bytearray(frame)
            for _ in range(4):
                broken[42 + rng.randrange(len(frame) - 42)] ^= 1 << rng.randrange(8)
            frames.append((time, bytes(broken)))
        code, out, err = capture(self.put("broken.pcap", write_pcap(frames)))
        self.assertIn(code, (0, 1))
        self.assertRegex(out, r"malformed +\d+ packets, the first in frame \d+: ")

    def test_mutations(self):
        """Whatever the bytes are: an answer, and no crash."""
        rng = random.Random(8)
        sources = [(self.folder / f"{n}.pcap").read_bytes()[:60_000] for n in ("ddnet", "07", "arriving")]
        sources.append(write_pcapng(self.frames)[:60_000])
        for number in range(MUTATIONS):
            data = bytearray(rng.choice(sources))
            for _ in range(1 << rng.randrange(9)):
                at = rng.randrange(len(data) if rng.random() < 0.9 else 100)
                data[at] = rng.choice((0, 0xff, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
            for arguments in (["--format", "ndjson"], ["--explain"], ["-o", self.folder / "mutated.demo", "--force"])[number % 3:][:1]:
                code, out, err = capture(self.put("mutated.pcap", bytes(data)), *arguments)
                self.assertIn(code, (0, 1, 2), err)  # 2: another network, or nothing for a demo
                self.assertNotRegex(err, "Sanitizer|runtime error")
                self.assertFalse(list(self.folder.glob("*.part")))


class Demos(Captures):
    def test_demos(self):
        for name in ("ddnet", "07", "lossy", "lossy07", "arriving", "arriving07"):
            found = connections(self.folder / f"{name}.pcap")[1]
            for c in found:
                demo = self.folder / f"{name}_{c['number']}.demo"
                code, out, err = capture(self.folder / f"{name}.pcap", "-o", demo, "--connection", c["number"])
                self.assertEqual((code, out), (0, ""))
                self.assertIn(f"{demo}: {c['snapshots']} snapshots", err)
                unchanged = int((re.findall(r"\((\d+) of them unchanged and not stored\)", err) or [0])[0])
                self.assertLess(unchanged, 10)
                code, out, err = run("verify", "--strict", demo)
                self.assertEqual((code, err), (0, ""))
                self.assertIn(f": {c['snapshots'] - unchanged} snapshots", out)
                (about,) = map(json.loads, run("info", "--format", "ndjson", demo)[1].splitlines())
                self.assertEqual(about["protocol"], "0.7" if "07" in name else "ddnet")
                self.assertEqual(about["version"], 4 if "07" in name else 6)  # 0.7's own clients read no later one
                self.assertEqual(about["map"]["name"], "made_up")
                self.assertEqual(about["map"]["size"], 50000)
                self.assertTrue(about["map"]["crc_matches"])
                self.assertEqual((about["first_tick"], about["last_tick"]), (c["maps"][0]["first_tick"], c["maps"][0]["last_tick"]))
                recorded = datetime.datetime.strptime(about["date"], "%Y-%m-%d_%H-%M-%S").timestamp()
                first, last = int(c["first_time"]), c["last_time"] if "lossy" in name or "arriving" in name else c["first_time"]
                self.assertTrue(first <= recorded <= last, (name, recorded - first))
                # Events are printed at the right time.
                if "07" not in name:
                    told = run("play", "--speed", "1000", demo)[1].splitlines()
                    self.assertGreater(len({line.split()[0] for line in told if "(self)" in line}), 1)

    def test_snapshots(self):
        """The output of dump for a connection equals that for its demo, in the order of ticks, apart from the order of items."""
        def rows(*arguments):
            code, out, _ = run("dump", "--format", "checksum", *arguments)
            self.assertEqual(code, 0)
            return [line.split() for line in out.splitlines()]

        for name in ("ddnet", "lossy", "arriving", "07"):
            file = self.folder / f"{name}.pcap"
            for c in connections(file)[1]:
                demo = self.folder / f"dumped_{name}_{c['number']}.demo"
                self.assertEqual(capture(file, "-o", demo, "--connection", c["number"])[0], 0)
                dumped, recorded = rows(file, "--connection", c["number"]), rows(demo)
                ticks = [int(row[0]) for row in dumped]
                self.assertEqual(ticks, sorted(set(ticks)))
                self.assertEqual(len(dumped), c["snapshots"])
                # Demos of 0.7 have items that clients add, and none has a snapshot in which nothing changed.
                same = 1 if "07" in name else 4
                by_tick = {row[0]: row[:same] for row in dumped}
                self.assertTrue(recorded)
                self.assertEqual([by_tick.get(row[0]) for row in recorded], [row[:same] for row in recorded])
        file = self.folder / "lossy.pcap"
        everything = rows(file)
        first = int(everything[0][0])
        self.assertEqual(rows(file, "--from", first + 20, "--to", first + 40),
                         [row for row in everything if first + 20 <= int(row[0]) <= first + 40])
        self.assertEqual(rows(file, "--from", "-1s"),
                         [row for row in everything if int(row[0]) >= int(everything[-1][0]) - 50])
        done = subprocess.run([TEEWIRE, "dump", "-", "--format", "checksum"], input=file.read_bytes(), capture_output=True)
        self.assertEqual([line.split() for line in done.stdout.decode().splitlines()], everything)
        self.assertRegex(done.stderr.decode(), "of [0-9]+ connections, using that of ")
        code, out, err = run("dump", file, "--connection", 99)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("there is no connection 99", err)
        code, out, err = run("dump", FIXTURES / "demos/ddnet_dm1.demo", "--connection", 1)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--connection is for packet captures", err)
        # Damage: what came before it is printed.
        cut = self.folder / "cut_short.pcap"
        cut.write_bytes(file.read_bytes()[:-7])
        code, out, err = run("dump", cut, "--format", "checksum")
        self.assertEqual(code, 1)
        self.assertEqual([line.split() for line in out.splitlines()], everything[:len(out.splitlines())])
        self.assertGreaterEqual(len(out.splitlines()), len(everything) - 1)

    def test_same_as_without_loss(self):
        """The items at each tick are those that the server sent, whatever way they took."""
        whole = self.folder / "whole.demo"
        capture(self.folder / "ddnet.pcap", "--connection", 1, "-o", whole)
        expected = self.snapshots(whole)
        frames, rng = self.frames, random.Random(9)
        mixed = [f for f in frames if rng.random() > 0.01]
        demo = self.folder / "part.demo"
        capture(self.put("part.pcap", write_pcap(mixed)), "--connection", 1, "-o", demo, "--force")
        got = self.snapshots(demo)
        both = set(got) & set(expected)
        self.assertGreater(len(both), 20)
        self.assertLess(len(both), len(expected))
        for tick in both:
            self.assertEqual(got[tick], expected[tick])

    def test_map(self):
        # Without its download, and then with the file.
        explained = re.split("^frame ", capture(self.folder / "ddnet.pcap", "--explain")[1], flags=re.MULTILINE)[1:]
        frames = [f for f, text in zip(self.frames, explained, strict=True) if ": map_data:" not in text]
        file = self.put("nomap.pcap", write_pcap(frames))
        demo = self.folder / "nomap.demo"
        found = connections(file, "--connection", 1)[1]
        code, out, err = capture(file, "--connection", 1, "-o", demo)
        self.assertEqual((code, out), (0, ""))
        self.assertFalse(found[0]["maps"][0]["downloaded"])
        self.assertIn("--map FILE", err)
        with_map = self.folder / "with.demo"
        capture(self.folder / "ddnet.pcap", "--connection", 1, "-o", with_map)
        data = with_map.read_bytes()
        size = int.from_bytes(data[136:140], "big")
        map_file = self.put("made_up.map", data[484:484 + size])
        self.assertEqual(zlib.crc32(map_file.read_bytes()), int(found[0]["maps"][0]["crc"], 16))
        code, _, err = capture(file, "--connection", 1, "-o", demo, "--force", "--map", map_file)
        self.assertEqual(code, 0)
        self.assertNotIn("--map", err)
        (about,) = map(json.loads, run("info", "--format", "ndjson", demo)[1].splitlines())
        self.assertTrue(about["map"]["crc_matches"])
        code, out, err = capture(file, "--connection", 1, "-o", demo, "--force", "--map", FIXTURES / "MANIFEST.tsv")
        self.assertEqual((code, out), (2, ""))
        self.assertIn(found[0]["maps"][0]["crc"], err)

    def test_several(self):
        demo = self.folder / "several.demo"
        code, out, err = capture("-", "-o", demo, "--force", stdin=self.ddnet + b"")
        self.assertEqual(code, 0)
        most = max(self.expected, key=lambda c: c["snapshots"])
        self.assertIn(f"connection #{most['number']} ", err)
        self.assertIn("2 connections in all", err)
        # With several files, each line names its file.
        files = [self.folder / "ddnet.pcap", self.folder / "07.pcap"]
        self.assertEqual([c.get("file") for c in connections(*files)[1]], [str(files[0])] * 2 + [str(files[1])])
        self.assertNotIn("file", connections(files[0])[1][0])
        # A connection with two maps gives two demos.
        twice = self.frames + [(time + 10**8, frame) for time, frame in self.frames]
        code, out, err = capture(self.put("twice.pcap", write_pcap(twice)), "-o", demo, "--force")
        self.assertEqual(code, 0)
        second = self.folder / "several_2.demo"
        self.assertEqual(self.snapshots(demo), self.snapshots(second))

    def test_places_that_cannot_be_written(self):
        code, out, err = capture(self.folder / "ddnet.pcap", "-o", self.folder / "no" / "x.demo")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("cannot be written", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
