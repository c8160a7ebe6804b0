"""What this module uses of teewire.h, which says what it does."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Tuple

from . import _library

NOT_FOUND = -22
BAD_MAGIC = -3
TICK, SNAPSHOT, MESSAGE = 1, 2, 3  # teewire_demo_kind
COLUMN_TICK, COLUMN_ID, COLUMN_INTS, COLUMN_KEYFRAME = -1, -2, -3, -4
SNAPSHOT_ROWS = 0xFFFFFFFF
INTEGER, FIELD_TICK, BOOLEAN, ENUMERATION, FLAGS, TEXT = range(6)  # teewire_field_kind
PROTOCOLS = ("ddnet", "0.6", "0.7")  # teewire_protocol
STAGES = ("chunk", "huffman", "varint", "snapshot", "delta")  # teewire_stage
MAX_ITEMS = 1024


class Failure(ctypes.Structure):
    _fields_ = [("code", c_int32), ("stage", c_int32), ("position", c_uint64), ("chunk", c_uint64)]


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **members: object) -> None:
        super().__init__(size=ctypes.sizeof(self), **members)


class Header(Sized):
    _fields_ = [("size", c_uint32), ("version", c_uint32), ("map_size", c_uint32), ("map_crc", c_uint32),
                ("length", c_int32), ("marker_count", c_uint32), ("marker_ticks", c_int32 * 64), ("has_sha256", c_uint32),
                ("sha256", c_uint8 * 32), ("net_version", c_uint8 * 64), ("map_name", c_uint8 * 64), ("type", c_uint8 * 8),
                ("timestamp", c_uint8 * 20)]


class ReaderOptions(Sized):
    _fields_ = [("size", c_uint32), ("decoding", c_int32), ("sizes", c_void_p), ("passed", c_uint32)]


class Event(Sized):
    _fields_ = [("size", c_uint32), ("tick", c_int32), ("position", c_uint64), ("message", c_void_p),
                ("message_size", c_uint32), ("keyframe", c_int32)]


class Overview(Sized):
    _fields_ = [("size", c_uint32), ("first_tick", c_int32), ("last_tick", c_int32), ("ticks", c_uint32),
                ("snapshots", c_uint32), ("messages", c_uint32), ("keyframes", c_uint32), ("damage", c_int32),
                ("damage_position", c_uint64), ("restarts", c_uint32)]


class Snapshot(ctypes.Structure):
    _fields_ = [("ints", c_void_p), ("keys", c_void_p), ("starts", c_void_p), ("size", c_uint32), ("flags", c_uint32)]


class Column(ctypes.Structure):
    _fields_ = [("values", c_void_p), ("place", c_int32)]


class Table(Sized):
    _fields_ = [("size", c_uint32), ("type", c_uint32), ("uuid", c_char_p), ("columns", POINTER(Column)),
                ("column_count", c_uint32), ("first_tick", c_int32), ("last_tick", c_int32), ("tick", c_int32),
                ("capacity", c_uint64), ("rows", c_uint64), ("position", c_uint64)]


class ItemType(Sized):
    _fields_ = [("size", c_uint32), ("type", c_uint32), ("name", c_char_p), ("uuid", c_uint8 * 16), ("ints", c_uint32),
                ("min_ints", c_uint32)]


class Field(Sized):
    _fields_ = [("size", c_uint32), ("kind", c_int32), ("name", c_char_p), ("offset", c_uint32), ("ints", c_uint32),
                ("count", c_uint32), ("first_word", c_int32)]


class Message(Sized):
    _fields_ = [("size", c_uint32), ("id", c_int32), ("system", c_int32), ("uuid", c_uint8 * 16), ("name", c_char_p),
                ("fields", c_void_p), ("fields_size", c_uint32), ("client_id", c_int32), ("victim", c_int32),
                ("weapon", c_int32), ("team", c_int32), ("target", c_int32), ("text_size", c_uint32), ("text", c_void_p),
                ("sender", c_void_p), ("sender_size", c_uint32), ("clan_size", c_uint32), ("clan", c_void_p)]


def _load() -> ctypes.CDLL:
    tried = []
    chosen = os.environ.get("TEEWIRE_LIBRARY")
    for name in [chosen] if chosen else [os.path.join(_library.FOLDER, _library.NAME), _library.NAME]:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("teewire needs its library: " + "; ".join(tried))


lib = _load()
try:
    lib.teewire_abi_version.restype = c_uint32
except AttributeError:
    raise ImportError(f"{lib._name} is not libteewire") from None
_version = divmod(lib.teewire_abi_version(), 65536)
if _version[0] != _library.ABI[0] or _version < _library.ABI:
    raise ImportError("%s has the ABI %d.%d, and this module needs %d.%d" % (lib._name, *_version, *_library.ABI))

_declared: Tuple[Tuple[Any, ...], ...] = (
    ("teewire_error_text", c_char_p, c_int32),
    ("teewire_demo_reader_size", c_uint32),
    ("teewire_demo_reader_init", c_int32, POINTER(c_void_p), c_void_p, c_uint32, c_char_p, c_uint64, c_void_p, c_void_p),
    ("teewire_demo_reader_sizes", c_void_p, c_void_p),
    ("teewire_demo_reader_protocol", c_int32, c_void_p),
    ("teewire_demo_reader_header", None, c_void_p, c_void_p),
    ("teewire_demo_reader_map", c_int32, c_void_p, POINTER(c_void_p)),
    ("teewire_demo_reader_next", c_int32, c_void_p, c_void_p, c_void_p),
    ("teewire_demo_reader_tick", c_int32, c_void_p),
    ("teewire_demo_reader_snapshot", c_int32, c_void_p, c_void_p),
    ("teewire_demo_reader_index", c_int32, c_void_p, c_void_p, c_uint32, c_void_p),
    ("teewire_demo_reader_seek", c_int32, c_void_p, c_int32, c_void_p),
    ("teewire_demo_reader_rows", c_int32, c_void_p, c_void_p, c_void_p),
    ("teewire_snapshot_rows", c_int32, c_void_p, c_int32, c_int32, c_void_p, c_void_p),
    ("teewire_snapshot_extended_type", c_int32, c_void_p, c_uint32, c_void_p),
    ("teewire_item_type_at", c_int32, c_int32, c_uint32, c_void_p),
    ("teewire_field_at", c_int32, c_int32, c_uint32, c_uint32, c_void_p),
    ("teewire_field_word", c_char_p, c_int32, c_uint32, c_uint32, c_uint32),
    ("teewire_text_decode", c_int32, c_void_p, c_uint32, c_void_p),
    ("teewire_message_read", c_int32, c_void_p, c_uint32, c_int32, c_void_p, c_void_p))
for _name, _result, *_arguments in _declared:
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments
