"""The parts of teewire.h, which explains them, that this module uses."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from typing import Any, Optional, Tuple

from . import _library
from ._structs import *  # noqa: F401,F403

PROTOCOLS = ("ddnet", "0.6", "0.7")  # teewire_protocol
STAGES = ("chunk", "huffman", "varint", "snapshot", "delta")  # teewire_stage


def text(address: Optional[int]) -> str:
    """That of a terminated text; empty for null."""
    return ctypes.string_at(address).decode() if address else ""


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
