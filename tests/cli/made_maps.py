"""Map files, put together without the library."""
import struct
import zlib


def datafile(items, blocks):
    """A map file. `items`: (type, id, ints); `blocks`: (zlib stream, size)."""
    types, offsets, body = {}, [], b""
    for kind, number, ints in sorted(items, key=lambda i: i[0]):
        types.setdefault(kind, [kind, len(offsets), 0])[2] += 1
        offsets.append(len(body))
        body += struct.pack(f"<Ii{len(ints)}i", kind << 16 | number, 4 * len(ints), *ints)
    starts = [sum(len(b) for b, _ in blocks[:i]) for i in range(len(blocks))]
    tables = b"".join(struct.pack("<3i", *t) for t in types.values()) + struct.pack(f"<{len(offsets)}i", *offsets) + \
        struct.pack(f"<{len(starts)}i", *starts) + struct.pack(f"<{len(blocks)}i", *(size for _, size in blocks))
    data = b"".join(b for b, _ in blocks)
    whole = 20 + len(tables) + len(body) + len(data)
    return b"DATA" + struct.pack("<8i", 4, whole, whole - len(data), len(types), len(offsets), len(blocks), len(body),
                                 len(data)) + tables + body + data


VERSION = (0, 0, [1])


def group(layers, number=0, first=0):
    return 4, number, [3, 0, 0, 100, 100, first, layers, 0, 0, 0, 0, 0, *[-2139062144] * 3]


def tiles(number, width, height, block, flags=0, version=3, more=()):
    """`flags`: 1 of the game layer; others of layers whose own block `more` names."""
    return 5, number, [0, 2, 0, version, width, height, flags, 255, 255, 255, 255, -1, 0, -1, block,
                       *[-2139062144] * 3, *more]


def quads(number, count, block):
    return 5, number, [0, 3, 0, 2, count, block, -1, *[-2139062144] * 3]


def zeros(size):
    stream = zlib.compressobj(1)
    piece = bytes(1 << 20)
    return b"".join(stream.compress(piece) for _ in range(size >> 20)) + stream.flush(), size
