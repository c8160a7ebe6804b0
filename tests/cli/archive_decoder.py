"""Decodes archives: a second reading of lib/doc/format/archive.md, which shares no code with the library. Slow."""
import struct
import zlib

from demo_codec import CODES, compress, pack_ints

MASK = 0xffffffff
SIZES = [[0, 10, 6, 5, 4, 3, 8, 4, 15, 22, 5, 17, 3, 2, 2, 2, 2, 3, 3, 3, 3]]
SIZES += [[0, 10, 6, 5, 3, 3, 3, 2, 4, 15, 22, 3, 4, 58, 5, 32, 2, 2, 2, 2, 3, 3, n] for n in (7, 3, 5, 0)]
LOGISTIC = [22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743, 32768, 40793, 47911, 53581,
            57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514]
SQUASH = [LOGISTIC[x >> 7] + ((LOGISTIC[(x >> 7) + 1] - LOGISTIC[x >> 7]) * (x & 127) >> 7) for x in range(4096)]
STRETCH = [next((x for x in range(4095) if SQUASH[x] >= p * 16 + 8), 4095) - 2048 for p in range(4096)]
MARKER, SNAPSHOT, MESSAGE, DELTA, RAW = range(5)
KIND, KEYFRAME, ABSOLUTE, PADDING, SUCCESSOR, SAME_SIZE, SAME, TYPE, ID, SIZE, MATCH, GROUP = range(1, 13)
TICK, COUNT, BYTE, FIELDS, CHANGE, ZERO, INT = 0x20, 0x40, 0x80, 0x100, 0x200, 0x800, 0x1000


def signed(x):
    return (x & MASK ^ 0x80000000) - 0x80000000


def mix(*values):
    h = sum(value * factor for value, factor in zip(values, (0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f))) & MASK
    h = (h ^ h >> 15) * 0x2c1b3c6d & MASK
    return h ^ h >> 16


def bucket(x):
    return abs(x).bit_length() + (64 if x < 0 else 0)


def divide(a, b):
    """Towards zero."""
    return abs(a) // b * (1 if a >= 0 else -1)


def clamp(x, least, most):
    return max(least, min(most, x))


class Bits:
    def __init__(self, data):
        self.data, self.at = data, 4
        self.low, self.high, self.value = 0, MASK, int.from_bytes((data + bytes(4))[:4], "big")
        self.counts = [[1 << 31] * 32768 for _ in range(4)]
        self.weights = {}

    def plain(self, one):
        middle = self.low + ((self.high - self.low) * one >> 16)
        bit = self.value <= middle
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while (self.low ^ self.high) >> 24 == 0:
            self.low = self.low << 8 & MASK
            self.high = self.high << 8 & MASK | 255
            self.value = self.value << 8 & MASK | (self.data[self.at] if self.at < len(self.data) else 0)
            self.at += 1
        return int(bit)

    def use(self, weights):
        self.set = self.weights.setdefault(weights, [1 << 15] * 4)

    def contexts(self, number, *lists):
        self.hashes = [mix(number, *values) for values in lists]
        self.use(number)

    def bit(self, node):
        places = [(h ^ node) & 0x7fff for h in self.hashes]
        inputs = [STRETCH[self.counts[i][p] >> 20] for i, p in enumerate(places)]
        one = SQUASH[clamp(sum(a * b for a, b in zip(inputs, self.set)) >> 16, -2048, 2047) + 2048]
        bit = self.plain(one)
        error = ((65535 if bit else 0) - one) * 10 >> 4
        for i, p in enumerate(places):
            self.set[i] = signed(self.set[i] + (inputs[i] * error + 0x8000 >> 16))
            n, chance = self.counts[i][p] & 1023, self.counts[i][p] >> 10
            chance += (((0x3fffff if bit else 0) - chance) >> 3) * (16384 // (2 * n + 3)) >> 10
            self.counts[i][p] = chance << 10 | min(n + 1, 255)
        return bit

    def flag(self, number, a, b=0, c=0):
        self.contexts(number, (a,), (a, b), (a, c), (a, b, c))
        return self.bit(0)

    def tree(self, bits, base=0):
        node = 1
        for _ in range(bits):
            node = 2 * node + self.bit(base + node)
        return node - (1 << bits)

    def int(self, number):
        first = INT + 4 * number % 0x2ffc
        self.use(first)
        if self.bit(1):
            return 0
        self.use(first + 1)
        negative = self.bit(2)
        self.use(first + 2)
        bits = self.tree(3, 4)
        if bits == 7:
            bits = self.tree(5, 32)
        self.use(first + 3)
        value = 1
        for i in range(bits):
            value = 2 * value + (self.bit(64 + 8 * bits + value) if i < 3 else self.plain(1 << 15))
        return signed(-value if negative else value)


class Item:
    def __init__(self, key, size):
        self.key, self.size, self.live, self.stamp, self.touched, self.tick = key, size, True, 0, 1, -1
        self.forget()
        self.values = [0] * 64

    def forget(self):
        self.changed = self.before = 0
        self.steps = [0] * 64


def class_of(key):
    kind = (key & MASK) >> 16
    return kind if kind < 64 else 64 + kind % 64


class Block:
    def __init__(self, data, version, sizes):
        self.bits, self.inline, self.sizes = Bits(data), version >= 5, SIZES[sizes]
        self.character = 9 if sizes else 8
        self.tick, self.step, self.since, self.kinds, self.padded, self.stamp, self.last_type = -1, 0, 0, 0, 0, 0, 0
        self.counts, self.costs, self.last_of, self.last_id, self.last_size = [0] * 4, {}, {}, {}, {}
        self.items, self.order, self.pool, self.clock = {}, [], [None] * 4096, 0
        self.history, self.places, self.match, self.match_size = bytearray(), {}, 0, 0

    # ---- bytes ----

    def back(self, n):
        return self.history[-n] if n <= len(self.history) else 0

    def byte(self, form, position):
        bits, hit, expected = self.bits, 0, 0
        if self.match_size:
            expected = self.history[self.match]
            hit = bits.flag(MATCH, min(self.match_size, 32), expected, form)
        if hit:
            byte = expected
            self.match, self.match_size = self.match + 1, self.match_size + 1
        else:
            missed = 256 + expected if self.match_size else 0
            a, b = self.back(1), self.back(2)
            bits.contexts(BYTE + form, (missed,), (a,), (a, b), (min(position, 255), a))
            bits.use(BYTE + 2 * form + (missed != 0))
            byte = bits.tree(8)
            self.match_size = 0
        self.history.append(byte)
        if len(self.history) >= 5:
            place = mix(int.from_bytes(self.history[-4:], "big"), self.history[-5]) >> 16
            if not self.match_size and len(self.history) - self.places.get(place, -1 << 20) < 1 << 20:
                self.match, self.match_size = self.places[place], 1
            self.places[place] = len(self.history)
        return byte

    def bytes(self, size, form):
        return bytes(self.byte(form, i) for i in range(size))

    def count(self, form):
        last = self.counts[form]
        self.bits.contexts(COUNT + form, (last & 0xffff,), (last,), (self.kinds & 0xfff,), (self.back(1),))
        count = self.bits.int(COUNT + form)
        self.counts[form] = (last << 16 | count & 0xffff) & MASK
        return count

    # ---- items ----

    def bring_in(self, key, size):
        item, kind = self.items.get(key), class_of(key)
        like = self.last_of.get(kind)
        if like is not None:
            like = self.pool[like]
        if item is None:
            while self.pool[self.clock] and self.pool[self.clock].live:
                self.clock = (self.clock + 1) % 4096
            old = self.pool[self.clock]
            if old:
                del self.items[old.key]
            if old is like:
                like = None
            item = self.items[key] = self.pool[self.clock] = Item(key, None)
            if old:
                item.values = old.values
            item.place = self.clock
            self.clock = (self.clock + 1) % 4096
            if self.last_of.get(kind) == item.place:
                like = item
        if item.size != size:
            item.size = size
            item.forget()
            if like and like is not item and like.size == size and class_of(like.key) == kind:
                item.values = list(like.values)
            elif like is not item:
                item.values = [0] * 64
        item.live, item.stamp, item.tick, item.touched = True, self.stamp, self.tick, 1
        self.last_of[kind] = item.place
        return item

    def motion(self, item, kind, f, news):
        old = item.values
        ticks = clamp(signed(news[0] - old[0]), 0, 150)
        if kind not in (self.character, self.character + 1):
            return 0, 0
        if f == 1:
            return divide(old[3] * ticks, 256), item.steps[1]
        if f == 2:
            return divide(old[4] * ticks + 128 * ticks * (ticks + 1) // 2, 256), divide(old[4] * ticks, 256)
        if f == 3:
            return divide((news[1] - old[1]) * 256, ticks) - old[3] if ticks else 0, -old[3]
        if f == 4:
            return divide((news[2] - old[2]) * 256, ticks) - old[4] + 64 * ticks if ticks else 0, 128 * ticks
        if f in (11, 12):
            return news[f - 10] - old[f], divide(old[f + 2] * 80 * ticks, 256)
        return 0, 0

    def data(self, item, fresh, differences):
        bits, kind, data = self.bits, class_of(item.key), []
        old = item.values + [0] * max(0, item.size - 64)
        if not fresh and not differences and bits.flag(SAME, kind, item.touched & 7, self.tick - item.tick):
            return old[:item.size]
        news, changed, before, before_that, residual, left, nonzero = [0] * 64, 0, 0, 0, 0, 0, False
        age = clamp(signed(self.tick - item.tick), 0, 20)
        same = False
        if not fresh and item.changed and item.size <= 64:
            again = item.changed == item.before
            bits.contexts(FIELDS, (item.changed & MASK, item.changed >> 32), (kind, again, age), (item.changed & MASK, item.before & MASK),
                          (item.key, again))
            bits.use(FIELDS + kind)
            same = bits.bit(0)
        f = 0
        while f < item.size:
            field = min(f, 63)
            c = kind << 6 | field | fresh << 13
            moves = [signed(m) for m in self.motion(item, kind, f, news)]
            was = item.changed >> field & 1 | (item.before >> field & 1) << 1
            bits.contexts(ZERO + c, (was, age > 2), (changed >> max(0, field - 6) & 0x3f, was), (changed & MASK, changed >> 32),
                          (bucket(moves[0]), bucket(moves[1]), age))
            bits.use(ZERO + (c & 0x7ff))
            if f % 4 == 0 and not same:
                left, nonzero = min(4, item.size - f), False
                if bits.bit(1):
                    for g in range(f, f + left):
                        if g < 64:
                            news[g] = old[g]
                        data.append(0 if differences else old[g])
                    before = before_that = 0
                    f += left
                    continue
            left -= 1
            if not was & 1 if same else (left or nonzero) and bits.bit(0):
                step, before_that, before = 0, before, 0
            else:
                last, reference, nonzero = item.steps[field], item.values[field], True
                guesses = [0, last, signed(self.tick - reference), *moves, signed(self.tick - item.tick)]
                costs = self.costs.setdefault(c, [0] * 6)
                best = costs.index(min(costs))
                bits.contexts(INT + 6 * c + best, (), (reference,), (bucket(before), bucket(before_that)),
                              (bucket(moves[0]), bucket(last), bucket(residual)))
                residual = bits.int(c)
                step = signed(residual + guesses[best])
                for k in range(6):
                    costs[k] = (15 * costs[k] + (abs(signed(step - guesses[k])).bit_length() << 8)) // 16
                before_that, before = before, step
            data.append(step if differences else signed(old[f] + step))
            if f < 64:
                news[f] = signed(old[f] + step)
                changed |= (step != 0) << f
            f += 1
        for f in range(min(64, item.size)):
            if news[f] != item.values[f]:
                item.steps[f] = signed(news[f] - item.values[f])
            item.values[f] = news[f]
        item.before, item.changed, item.tick = item.changed, changed, self.tick
        return data

    def key(self, before):
        bits, kind_before = self.bits, before >> 16
        bits.contexts(TYPE, (kind_before,), (before,), (self.last_type,), (kind_before, self.last_type))
        kind = kind_before + bits.int(TYPE) & 0xffff
        self.last_type, c = kind, class_of(kind << 16)
        last, first = self.last_id.get(c, 0), kind != kind_before or before == 0
        start = 0 if first and 12 <= kind < 23 else last
        bits.contexts(ID, (c, first), (c, last), (c, before & 0xffff), (c,))
        self.last_id[c] = start + bits.int(ID) & 0xffff
        return kind << 16 | self.last_id[c]

    def size(self, key):
        c = class_of(key)
        last = self.last_size.get(c, 0)
        self.bits.contexts(SIZE, (c,), (c, last), (key >> 16 & 0xffff,), ())
        self.last_size[c] = last + self.bits.int(SIZE) & MASK
        return self.last_size[c]

    def delta(self):
        self.stamp += 1
        removed, updates, kept, before = [], [], [], 0
        for place, item in enumerate(self.order):
            if place % 8 == 0:
                touched = [other.touched for other in self.order[place:place + 8]]
                last, any_of = 0, 0
                for value in touched:
                    last, any_of = last << 1 | value & 1, any_of | value
                recent = sum(value & 7 != 0 for value in touched)
                self.bits.contexts(GROUP, (last,), (class_of(item.key), any_of), (item.key, last != 0), (recent, before & 0xff, any_of & 3))
                all_kept = self.bits.bit(0)
            c, age = class_of(item.key), clamp(signed(self.tick - item.tick), 0, 1000)
            change = 0
            if not all_kept:
                self.bits.contexts(CHANGE + c, (item.touched, min(age, 3)), (item.touched & 15, before & 0xff), (item.key, item.touched & 3),
                                   (age, item.touched & 1))
                change = self.bits.bit(1)
            if change:
                self.bits.use(CHANGE + 128 + c)
                change += self.bits.bit(2)
                item.stamp = self.stamp
            before = (before << 2 | change) & MASK
            item.touched = (item.touched << 1 | (change != 0)) & 255
            if change == 2:
                item.live = False
                removed.append(item.key)
                continue
            kept.append(item)
            if change == 1:
                updates.append((item.key, item.size, self.data(item, False, True)))
        self.order, before = kept, 0
        for _ in range(self.count(2)):
            key = before = self.key(before)
            kind = key >> 16
            size = self.sizes[kind] if kind < len(self.sizes) and self.sizes[kind] else self.size(key)
            item = self.items.get(signed(key))
            known = item is not None and item.live
            if known:
                assert item.size == size and item.stamp != self.stamp
                item.stamp, item.touched = self.stamp, item.touched | 1
            else:
                item = self.bring_in(signed(key), size)
                self.order.append(item)
            updates.append((signed(key), size, self.data(item, not known, known)))
        ints = [len(removed), len(updates), 0, *removed]
        for key, size, data in updates:
            kind = (key & MASK) >> 16
            agreed = kind < len(self.sizes) and self.sizes[kind]
            ints += [kind, key & 0xffff, *([] if agreed else [size]), *data]
        return ints

    def snapshot(self):
        self.stamp += 1
        count = len(self.order) + self.count(3)
        places = {item.key: i for i, item in enumerate(self.order)}
        order, datas, expected, hits, before = [], [], 0, 0, 0
        for _ in range(count):
            hit = 0
            if expected < len(self.order):
                key = self.order[expected].key
                hit = self.bits.flag(SUCCESSOR, class_of(key), hits & 7, class_of(before))
            hits = hits << 1 | hit
            if not hit:
                key = signed(self.key(before))
            before = key & MASK
            item = self.items.get(key)
            known = item is not None and item.live
            if known:
                known = self.bits.flag(SAME_SIZE, class_of(key))
            if known:
                assert item.stamp != self.stamp
                item.stamp, expected = self.stamp, places[key] + 1
            else:
                item = self.bring_in(key, self.size(before))
            order.append(item)
            datas.append(self.data(item, not known, False))
        for item in self.order:
            item.live = False
        for item in order:
            item.live = True
        self.order = order
        begins = [0]
        for data in datas:
            begins.append(begins[-1] + 4 + 4 * len(data))
        return [begins[-1], count, *begins[:-1], *(i for item, data in zip(order, datas) for i in (item.key, *data))]

    # ---- parts ----

    def marker(self):
        keyframe = self.bits.flag(KEYFRAME, self.since)
        absolute = self.bits.flag(ABSOLUTE, keyframe)
        self.bits.contexts(TICK, (self.step,), (self.kinds & 0xff,), (self.kinds & 0xffff,), ())
        self.step = signed(self.step + self.bits.int(TICK))
        self.tick = signed(self.tick + self.step)
        self.since = 0 if keyframe else self.since + 1
        flags = 0xc0 if keyframe else 0x80
        if absolute:
            return struct.pack(">Bi", flags, self.tick)
        return bytes([flags | (0x20 if self.inline else 0) | self.step])

    def part(self):
        self.bits.contexts(KIND, (self.kinds & 0xff,), (self.kinds & 0xfffff,), (self.kinds & 0xfffffff,), (self.step,))
        kind = self.bits.tree(3)
        self.kinds = (self.kinds << 4 | kind) & MASK
        if kind == MARKER:
            return self.marker()
        if kind == RAW:
            return self.bytes(self.count(1), 1)
        self.padded = self.bits.flag(PADDING, self.padded)
        if kind == MESSAGE:
            size = 4 * self.count(0)
            ints = struct.unpack(f"<{size // 4}i", self.bytes(size, 0))
        else:
            ints = self.delta() if kind == DELTA else self.snapshot()
        packed = pack_ints(ints)
        coded = compress(packed)
        if self.padded and sum(len(CODES[b]) for b in packed) + len(CODES[256]) == 8 * len(coded):
            coded += b"\0"
        head = {SNAPSHOT: 0x20, MESSAGE: 0x40, DELTA: 0x60}[kind]
        size = len(coded)
        if size < 30:
            return bytes([head | size]) + coded
        return (bytes([head | 30, size]) if size < 256 else struct.pack("<BH", head | 31, size)) + coded


def decode(archive, maps=None):
    """The original. `maps`: maps by their SHA-256, if they are not in the archive."""
    assert archive[:8] == b"TWARCH\0\2"
    blocks, size, checksum = struct.unpack(">IQI", archive[-16:])
    index = archive[-16 - 24 * blocks:]
    assert zlib.crc32(index[:-4]) == checksum
    at, original = 8, b""
    for i in range(blocks):
        coding, version, sizes, size_of, packed, checksum = struct.unpack(">BBBxIII8x", index[24 * i:24 * i + 24])
        entry = archive[at:at + 24]
        assert entry[:20] == index[24 * i:24 * i + 20] and struct.unpack(">I", entry[20:])[0] == zlib.crc32(entry[:20])
        data, begin = archive[at + 24:at + 24 + packed], len(original)
        at += 24 + packed
        if coding == 0:
            original += data
        elif coding == 3:
            offset, = struct.unpack(">I", data[:4])
            original += maps[data[4:].hex()][offset:offset + size_of]
        else:
            block = Block(data, version, sizes)
            piece = bytearray()
            while len(piece) < size_of:
                piece += block.part() if coding == 2 else block.bytes(min(4096, size_of - len(piece)), 2)
            original += piece
        assert len(original) == begin + size_of and zlib.crc32(original[begin:]) == checksum
    assert len(original) == size
    return original
