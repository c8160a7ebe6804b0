"""Demos made to order, by the C ABI that the module calls."""
import ctypes

import numpy as np
from teewire import _abi

lib = ctypes.CDLL(_abi.lib._name)  # the same one, without the module's declarations


def text_ints(text, count):
    """As items have texts."""
    raw = text.encode()[:4 * count - 1]
    padded = raw + bytes(4 * count - len(raw))
    return [int.from_bytes(bytes((b + 128) % 256 for b in padded[n:n + 4]), "big", signed=True) for n in range(0, 4 * count, 4)]


def packed(*values):
    """Variable-length ints of less than 64, as messages have them."""
    return bytes(v if v >= 0 else 0x40 | ~v for v in values)


class Demo:
    def __init__(self, net_version=b"0.6 626fce9a778df4d4", map_name=b"made"):
        self.header = _abi.DemoHeader(version=6)
        for name, value in (("net_version", net_version), ("map_name", map_name), ("type", b"server")):
            ctypes.memmove(getattr(self.header, name), value, len(value))
        self.out = ctypes.create_string_buffer(65543)
        self.chunks = [b""]
        self.begin()

    def begin(self):
        """Ticks may restart."""
        self.memory = (ctypes.c_uint64 * (lib.teewire_demo_writer_size() // 8 + 1))()
        self.writer = ctypes.c_void_p()
        assert lib.teewire_demo_writer_init(ctypes.byref(self.writer), self.memory, ctypes.sizeof(self.memory),
                                            ctypes.byref(_abi.DemoWriterOptions())) == 0

    def keep(self, size):
        assert size > 0, size
        self.chunks.append(self.out.raw[:size])

    def snapshot(self, tick, items):
        """(type, id, ints)"""
        data = [np.array([kind << 16 | id, *ints], np.int64).astype(np.int32) for kind, id, ints in items]
        ends = np.cumsum([0, *(4 * len(d) for d in data)])
        self.snapshot_ints(tick, np.concatenate([[ends[-1], len(items)], ends[:-1], *data]).astype(np.int32))

    def snapshot_ints(self, tick, ints):
        view = _abi.Snapshot(ints.ctypes.data, None, None, len(ints), 0)
        self.keep(lib.teewire_demo_writer_snapshot(self.writer, tick, ctypes.byref(view), self.out, len(self.out), None))

    def message(self, data):
        self.keep(lib.teewire_demo_writer_message(self.writer, data, len(data), self.out, len(self.out), None))

    def bytes(self):
        size = lib.teewire_demo_header_write(ctypes.byref(self.header), self.out, len(self.out))
        return self.out.raw[:size] + b"".join(self.chunks)
