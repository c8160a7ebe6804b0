"""Writes and reads demos, based only on the format documents, for tests that must not share code with what they test."""
import pathlib
import re
import struct

FORMAT = pathlib.Path(__file__).resolve().parents[2] / "lib/doc/format"
SNAPSHOT, MESSAGE, DELTA = 1, 2, 3  # kinds of chunks
SHA256_EXTENSION = bytes.fromhex("6be6da4acebd380c9b5b1289c842d780")


def read_codes():
    """{symbol: bits}, with the end as 256"""
    block = (FORMAT / "huffman.md").read_text().split("```example codes\n")[1].split("```")[0]
    return {256 if symbol == "EOF" else int(symbol, 16): bits
            for symbol, bits in re.findall(r"([0-9a-f]{2}|EOF) ([01]+)", block)}


CODES = read_codes()
LONGEST = max(map(len, CODES.values()))
# By the next bits of the data, the first of them lowest.
TABLE = [None] * (1 << LONGEST)
for symbol, bits in CODES.items():
    for rest in range(1 << LONGEST - len(bits)):
        TABLE[int(bits[::-1], 2) | rest << len(bits)] = symbol, len(bits)


def compress(data):
    bits = "".join(CODES[b] for b in data) + CODES[256]
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[n:n + 8][::-1], 2) for n in range(0, len(bits), 8))


def decompress(data):
    out, bits, at = bytearray(), int.from_bytes(data, "little"), 0
    while True:
        symbol, length = TABLE[bits >> at & (1 << LONGEST) - 1]
        at += length
        assert at <= 8 * len(data), "the data ends too early"
        if symbol == 256:
            return bytes(out)
        out.append(symbol)
        if at >= 4096:  # numbers stay short
            bits, data, at = bits >> 4096, data[512:], at - 4096


def pack_int(value):
    value = (value + 2**31) % 2**32 - 2**31
    sign, value = (0x40, ~value) if value < 0 else (0, value)
    out = [sign | value & 0x3f]
    value >>= 6
    while value:
        out[-1] |= 0x80
        out.append(value & 0x7f)
        value >>= 7
    return bytes(out)


def pack_ints(values):
    return b"".join(map(pack_int, values))


def unpack_ints(data):
    """From -2**31 to 2**31 - 1."""
    out, at = [], 0
    while at < len(data):
        first = data[at]
        value, shift, more = first & 0x3f, 6, first & 0x80
        while more:
            at += 1
            more = data[at] & 0x80
            value |= (data[at] & 0x7f) << shift
            shift += 7
        at += 1
        value = ~value if first & 0x40 else value
        out.append((value + 2**31) % 2**32 - 2**31)
    return out


def text_ints(text, count):
    """A text as items have it."""
    raw = text[:4 * count - 1].ljust(4 * count, b"\0")
    ints = [int.from_bytes(bytes(b + 128 & 255 for b in raw[n:n + 4]), "big", signed=True)
            for n in range(0, 4 * count, 4)]
    return [*ints[:-1], ints[-1] & ~0xff]


def ints_text(values):
    return b"".join(bytes((v >> s & 255) - 128 & 255 for s in (24, 16, 8, 0)) for v in values)


class Writer:
    """Collects a demo of version 5, whose map is not in it."""

    def __init__(self, net_version=b"0.6 626fce9a778df4d4", kind=b"client"):
        self.out = bytearray(b"TWDEMO\0\5" + net_version.ljust(64, b"\0") + b"made".ljust(64, b"\0") + bytes(8) +
                             kind.ljust(8, b"\0") + struct.pack(">i", 10) + b"2026-01-01_00-00-00".ljust(20, b"\0") + bytes(260))

    def chunk(self, kind, data):
        data = compress(data)
        size = len(data)
        self.out += (bytes([kind << 5 | size]) if size < 30 else bytes([kind << 5 | 30, size]) if size < 256 else
                     bytes([kind << 5 | 31]) + struct.pack("<H", size)) + data

    def snapshot(self, tick, items):
        """As a keyframe. Items are (type, id, ints)."""
        self.out += b"\xc0" + struct.pack(">I", tick)
        self.chunk(SNAPSHOT, pack_ints(snapshot_ints(items)))

    def delta(self, step, updates):
        """Steps are in ticks since the last marker, up to 31. Updates are (type, id, size, ints); the size only of types
        that are not known."""
        self.out += bytes([0xa0 | step])
        flat = [n for kind, number, size, ints in updates for n in (kind, number, *([size] if size else []), *ints)]
        self.chunk(DELTA, pack_ints([0, len(updates), 0, *flat]))

    def message(self, data):
        self.chunk(MESSAGE, pack_ints(struct.unpack(f"<{(len(data) + 3) // 4}i", data + bytes(-len(data) % 4))))


def snapshot_ints(items):
    offsets, data = [], []
    for kind, number, ints in items:
        offsets.append(4 * len(data))
        data += [kind << 16 | number, *ints]
    return [4 * len(data), len(offsets), *offsets, *data]


def read_chunks(demo):
    """(kind, ints) of each chunk with data"""
    version = demo[7]
    at = 176 if version < 4 else 436
    if demo[436:452] == SHA256_EXTENSION:
        at += 48
    at += struct.unpack(">I", demo[136:140])[0]
    while at < len(demo):
        head = demo[at]
        at += 1
        if head & 0x80:
            at += 0 if version >= 5 and head & 0x20 or version < 5 and head & 0x3f else 4
            continue
        size = head & 0x1f
        if size == 30:
            size, at = demo[at], at + 1
        elif size == 31:
            size, at = demo[at] | demo[at + 1] << 8, at + 2
        yield head >> 5 & 3, unpack_ints(decompress(demo[at:at + size]))
        at += size


def read_demo(demo, sizes):
    """(kind, content) of each chunk: the bytes of a message; {key: ints} of a snapshot or delta, which is the whole state.
    sizes: {type: ints} of the types whose size deltas leave out."""
    state = {}
    for kind, ints in read_chunks(demo):
        if kind == MESSAGE:
            yield kind, struct.pack(f"<{len(ints)}i", *ints)
            continue
        if kind == SNAPSHOT:
            count, data = ints[1], ints[2 + ints[1]:]
            ends = [*ints[2:2 + count], ints[0]]
            state = {data[a // 4]: data[a // 4 + 1:b // 4] for a, b in zip(ends, ends[1:])}
        else:
            removed, updated = ints[:2]
            at = 3 + removed
            gone = set(ints[3:at])
            state = {key: data for key, data in state.items() if key not in gone}
            for _ in range(updated):
                type_, number = ints[at:at + 2]
                at += 2
                size = sizes.get(type_)
                if size is None:
                    size, at = ints[at], at + 1
                key = (type_ << 16 | number) + 2**31 & 2**32 - 1
                key -= 2**31
                before = state.get(key, [0] * size)
                state[key] = [(a + b + 2**31) % 2**32 - 2**31 for a, b in zip(before, ints[at:at + size])]
                at += size
        yield kind, state
