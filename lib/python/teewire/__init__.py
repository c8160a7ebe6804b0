"""Demos of Teeworlds and DDNet as NumPy arrays.

    with teewire.open("game.demo") as recording:
        table = recording.items("character").to_pandas()

Item types and columns are called as `teewire types` and `teewire export` call them. Ticks are 50 a second."""
from __future__ import annotations

import builtins
import ctypes
import functools
import os
import threading
import uuid as uuids
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi, _tables
from ._abi import lib
from ._tables import Array, Items

__all__ = ["open", "Recording", "Snapshot", "Items", "Message", "Chat", "Error", "Damaged"]


class Error(Exception):
    """The file is not a demo."""


class Damaged(Error):
    """The file is damaged. What came before the damage is right, and is in `before`: what the call would have returned, had
    the file ended there. Iterators have given it already."""

    def __init__(self, text: str, offset: int, tick: Optional[int], code: int) -> None:
        super().__init__(text)
        self.offset: int = offset  #: byte of the file where the damaged piece begins
        self.tick: Optional[int] = tick  #: the last one before it, if there was one
        self.code: int = code  #: a teewire_error of teewire.h
        self.before: Any = None


class Message(NamedTuple):
    """A message of the server or the game. A member that it does not have is None; `fields` is everything after its header."""
    tick: Optional[int]  #: None before the first one
    kind: str  #: "chat", "kill", "vote_set", ..., as `teewire dump` has it
    client_id: Optional[int]  #: who speaks, kills, comes or goes; -1 for the server
    victim: Optional[int]
    weapon: Optional[int]  #: -3 game, -2 self, -1 world, otherwise as a character's
    team: Optional[int]
    target: Optional[int]  #: who is whispered to, of 0.7
    text: Optional[str]
    name: Optional[str]
    clan: Optional[str]
    fields: bytes


class Chat(NamedTuple):
    """A line of chat."""
    tick: Optional[int]
    kind: str  #: "chat", "team_chat", "whisper", or "server_message"
    client_id: int  #: -1 for the server; of a whisper of 0.6 the one who is not the recording player
    name: Optional[str]  #: at that tick; None for the server
    text: str


# The members of Message that each kind of message has.
_SAID = {"chat": ("client_id", "team", "target", "text"), "motd": ("text",), "broadcast": ("text",),
         "kill": ("client_id", "victim", "weapon"), "client_info": ("client_id", "team", "name", "clan"),
         "demo_client_enter": ("client_id", "team", "name"), "demo_client_leave": ("client_id", "name", "text"),
         "client_drop": ("client_id", "text"), "team": ("client_id", "team")}


def _text(raw: bytes) -> str:
    return _tables.decode(raw.split(b"\0", 1)[0])


def _bytes(address: Optional[int], size: int) -> bytes:
    return ctypes.string_at(address, size) if address and size else b""


class _Reader:
    """A reader with its memory, and the file that it needs."""

    def __init__(self, name: str, file: bytes, sizes: Optional[int] = None, passed: int = 0) -> None:
        self.name = name
        self.file = file
        self.failure = _abi.Failure()
        size = lib.teewire_demo_reader_size()
        self._memory = (ctypes.c_uint64 * (size // 8 + 1))()
        self._keyframes: Any = None
        self.pointer = ctypes.c_void_p()
        options = _abi.DemoReaderOptions(sizes=sizes, passed=passed)
        code = lib.teewire_demo_reader_init(ctypes.byref(self.pointer), self._memory, size, file, len(file),
                                            ctypes.byref(options), ctypes.byref(self.failure))
        if code == _abi.BAD_MAGIC:
            raise Error(f"{name}: this is not a demo" + _compressed(file))
        if code < 0:
            raise Damaged(f"{name}: byte {self.failure.position}: {self.reason()}", self.failure.position, None, code)

    def reason(self) -> str:
        return str(lib.teewire_error_text(self.failure.code), "ascii")

    def damage(self) -> Damaged:
        failure = self.failure
        tick = lib.teewire_demo_reader_tick(self.pointer)
        where = f"tick {tick}" if tick >= 0 else "before the first tick"
        text = f"{self.name}: {where}, byte {failure.chunk}: "
        if failure.stage == 0:
            text += self.reason()
        else:
            unit = "byte" if failure.stage < 3 else "int"
            text += f"{_abi.STAGES[failure.stage]}: {self.reason()} ({unit} {failure.position})"
        return Damaged(text, failure.chunk, tick if tick >= 0 else None, failure.code)

    def next(self, event: _abi.DemoEvent) -> int:
        kind: int = lib.teewire_demo_reader_next(self.pointer, ctypes.byref(event), ctypes.byref(self.failure))
        if kind < 0:
            raise self.damage()
        return kind

    def snapshot(self) -> bytes:
        """The last one, as ints."""
        view = _abi.Snapshot()
        lib.teewire_demo_reader_snapshot(self.pointer, ctypes.byref(view))
        return ctypes.string_at(view.ints, 4 * view.size)

    def index(self) -> _abi.DemoOverview:
        """Afterwards, it can seek."""
        overview = _abi.DemoOverview()
        count = lib.teewire_demo_reader_index(self.pointer, None, 0, ctypes.byref(overview))
        self._keyframes = (ctypes.c_uint64 * (2 * count))()
        lib.teewire_demo_reader_index(self.pointer, self._keyframes, 16 * count, ctypes.byref(overview))
        return overview

    def seek(self, tick: int) -> None:
        if lib.teewire_demo_reader_seek(self.pointer, tick, ctypes.byref(self.failure)) < 0:
            raise self.damage()


def _compressed(file: bytes) -> str:
    for magic, by in ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd")):
        if file.startswith(magic):
            return f": it is compressed by {by}; give teewire.open() the bytes of the decompressed file"
    return ""


class Snapshot:
    """The items of one moment. Holds when the recording is closed."""

    def __init__(self, protocol: int, tick: Optional[int], keyframe: bool, ints: bytes) -> None:
        self.tick = tick
        self.keyframe = keyframe
        self._protocol = protocol
        self._ints = ints

    def _view(self) -> _abi.Snapshot:
        return _abi.Snapshot(ctypes.cast(ctypes.c_char_p(self._ints), ctypes.c_void_p), None, None, len(self._ints) // 4, 0)

    @property
    def types(self) -> List[str]:
        """The item types in the snapshot."""
        ints = np.frombuffer(self._ints, np.int32)
        count = ints[1]
        numbers = ints[2 + count + ints[2:2 + count] // 4].view(np.uint32) >> 16
        names = []
        uuid = (ctypes.c_uint8 * 16)()
        view = self._view()
        for number in map(int, np.unique(numbers)):
            aliased = _tables.FIRST_ALIAS <= number <= _tables.LAST_ALIAS
            known = aliased and lib.teewire_snapshot_extended_type(ctypes.byref(view), number, uuid) >= 0
            names.append(_tables.name_type(self._protocol, number, bytes(uuid) if known else None))
        return names

    def items(self, type: str, columns: Optional[Sequence[str]] = None) -> Items:
        """Those of a type."""
        view = self._view()

        def read(found: _tables.ItemType, places: Sequence[int]) -> Array:
            capacity = int(np.frombuffer(self._ints, np.int32, 2)[1])
            block = np.empty((len(places), capacity), np.int32)
            table = _table(found, 0, 0)
            _set_columns(table, places, block)
            lib.teewire_snapshot_rows(ctypes.byref(view), 0, 0, ctypes.byref(table), None)
            return block[:, :table.rows]

        return _tables.read_items(_tables.find_type(self._protocol, type), False, columns, read)

    def __repr__(self) -> str:
        return f"<teewire.Snapshot of tick {self.tick}>"


def _table(found: _tables.ItemType, first_tick: int, last_tick: int) -> _abi.Table:
    uuid = ctypes.cast(ctypes.c_char_p(found.uuid), ctypes.c_void_p) if found.uuid else None
    return _abi.Table(type=found.number, uuid=uuid, first_tick=first_tick, last_tick=last_tick)


def _set_columns(table: _abi.Table, places: Sequence[int], block: Array) -> None:
    """A row of `block` for each column."""
    columns = (_abi.Column * len(places))()
    for n, place in enumerate(places):
        columns[n] = _abi.Column(block.ctypes.data + n * block.strides[0], place)
    table.columns = ctypes.addressof(columns)
    table.column_count = len(places)
    table.capacity = block.shape[1]
    table.kept = columns, block  # as long as it points there


class Recording:
    """A demo. Its methods may be called by several threads."""

    def __init__(self, name: str, file: bytes) -> None:
        self.name = name
        self._lock = threading.Lock()  # of the reader that seeks
        self._file: Optional[bytes] = file
        self._seeker: Optional[_Reader] = None
        reader = _Reader(name, file)
        self._sizes: int = lib.teewire_demo_reader_sizes(reader.pointer)
        self._protocol: int = lib.teewire_demo_reader_protocol(reader.pointer)
        overview = reader.index()
        header = _abi.DemoHeader()
        lib.teewire_demo_reader_header(reader.pointer, ctypes.byref(header))
        #: "0.6", "0.7" or "ddnet"
        self.protocol: str = _abi.PROTOCOLS[self._protocol]
        #: name of the map
        self.map: str = _text(bytes(header.map_name))
        self.map_bytes: int = header.map_size
        self.map_crc: int = header.map_crc
        #: hexadecimal; None if the file does not say it
        self.map_sha256: Optional[str] = bytes(header.sha256).hex() if header.has_sha256 else None
        #: "client" or "server"
        self.type: str = _text(bytes(header.type))
        #: when it was recorded, in local time: YYYY-MM-DD_HH-MM-SS
        self.timestamp: str = _text(bytes(header.timestamp))
        #: of the file format
        self.version: int = header.version
        self.markers: Tuple[int, ...] = tuple(header.marker_ticks[:header.marker_count])
        self.first_tick: Optional[int] = overview.first_tick if overview.ticks else None
        self.last_tick: Optional[int] = overview.last_tick if overview.ticks else None
        #: seconds from the first to the last tick
        self.length: float = (overview.last_tick - overview.first_tick) / 50
        # Where ticks restart, a tick is at several positions.
        self._ascending: bool = overview.restarts == 0
        self._seeker = reader

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<teewire.Recording {self.name!r}: {self.map}, {self.protocol}, {self.length:.1f} s>"

    def close(self) -> None:
        """Frees the memory of the file. Everything read so far is kept."""
        with self._lock:
            self._file = self._seeker = None

    def _open(self) -> bytes:
        if self._file is None:
            raise ValueError("the recording is closed")
        return self._file

    def _reader(self, *wanted: int) -> _Reader:
        """A reader at the beginning; teewire_demo_reader_next gives only the wanted events."""
        passed = sum(1 << kind for kind in (_abi.DEMO_TICK, _abi.DEMO_SNAPSHOT, _abi.DEMO_MESSAGE) if kind not in wanted)
        return _Reader(self.name, self._open(), self._sizes, passed)

    @property
    def types(self) -> List[str]:
        """The item types of the protocol, whether they occur or not."""
        return list(_tables.item_types(self._protocol))

    def columns(self, type: str) -> List[str]:
        """The fields of an item type."""
        return [c.name for c in _tables.find_type(self._protocol, type).columns]

    @functools.cached_property
    def ticks(self) -> Array:
        """The ticks that have a snapshot, in the order of the file. Raises Damaged. O(bytes of the file), once."""
        found = _tables.ItemType("", _abi.SNAPSHOT_ROWS, None, (), 0)
        block, damage = self._rows(found, [_abi.COLUMN_TICK], None, None, 1 << 40)
        block.flags.writeable = False
        if damage is not None:
            damage.before = block[0]
            raise damage
        ticks: Array = block[0]
        return ticks

    def items(self, type: str, from_tick: Optional[int] = None, to_tick: Optional[int] = None,
              columns: Optional[Sequence[str]] = None, memory: int = 4 << 30) -> Items:
        """All items of a type, from one tick to another, both included: a row for each item in each snapshot.

        `columns`: those that are needed, which is faster. Raises Damaged; MemoryError if numbers would take more than
        `memory` bytes, as some bytes of a file can stand for a thousand items. O(bytes of the file + values)."""
        found = _tables.find_type(self._protocol, type)
        damages: List[Damaged] = []

        def read(wanted: _tables.ItemType, places: Sequence[int]) -> Array:
            block, damage = self._rows(wanted, places, from_tick, to_tick, memory)
            if damage is not None:
                damages.append(damage)
            return block

        items = _tables.read_items(found, True, columns, read)
        if damages:
            damages[0].before = items
            raise damages[0]
        return items

    def _rows(self, found: _tables.ItemType, places: Sequence[int], from_tick: Optional[int], to_tick: Optional[int],
              memory: int) -> Tuple[Array, Optional[Damaged]]:
        first = -1 if from_tick is None else from_tick
        last = 0x7FFFFFFF if to_tick is None else to_tick
        selected = not self._ascending and to_tick is not None
        if selected:  # afterwards, as the library stops at the first tick past the last
            places = [*places, _abi.COLUMN_TICK]
        reader = self._reader()
        table = _table(found, *((-1, 0x7FFFFFFF) if selected else (_limit(first), _limit(last))))
        damage: Optional[Damaged] = None
        if self._ascending and self.first_tick is not None and first > self.first_tick:
            reader.index()
            try:
                reader.seek(_limit(first - 1))
            except Damaged as error:
                damage = error
        most = memory // (4 * len(places))  # rows
        block = np.empty((len(places), max(_abi.MAX_ITEMS, min(8192, most))), np.int32)
        while damage is None:
            _set_columns(table, places, block)
            code = lib.teewire_demo_reader_rows(reader.pointer, ctypes.byref(table), ctypes.byref(reader.failure))
            if code < 0:
                damage = reader.damage()
            if code <= 0:
                break
            rows = table.rows
            # As many as the ticks so far let expect.
            begin, end = max(first, self.first_tick or 0), min(last, self.last_tick or 0)
            expected = rows * (end - begin + 1) / max(1, table.tick - begin + 1)
            capacity = int(min(max(1.1 * expected, 1.5 * rows), 64.0 * rows)) + 2 * _abi.MAX_ITEMS
            if rows + _abi.MAX_ITEMS > most:
                raise MemoryError(f"{self.name}: items of type {found.name} take more than {memory} bytes, up to tick "
                                  f"{table.tick} alone: read fewer columns or ticks at a time, or allow more memory")
            larger = np.empty((len(places), min(capacity, most)), np.int32)
            larger[:, :rows] = block[:, :rows]
            block = larger
        block = block[:, :table.rows] if 2 * table.rows > block.shape[1] else block[:, :table.rows].copy()
        if selected:
            ticks = block[-1]
            block = block[:-1, (ticks >= first) & (ticks <= last)]
        return block, damage

    def state(self, tick: int) -> Snapshot:
        """The snapshot at a tick; before the first one, that of the first. O(bytes since the last keyframe)."""
        with self._lock:
            self._open()
            assert self._seeker is not None
            self._seeker.seek(_limit(tick))
            now = lib.teewire_demo_reader_tick(self._seeker.pointer)
            return Snapshot(self._protocol, now if now >= 0 else None, False, self._seeker.snapshot())

    def __iter__(self) -> Iterator[Snapshot]:
        """All snapshots. Raises Damaged after the last valid one."""
        reader = self._reader(_abi.DEMO_SNAPSHOT)
        event = _abi.DemoEvent()
        while reader.next(event):
            yield Snapshot(self._protocol, _tick(event), event.keyframe != 0, reader.snapshot())
            self._open()

    def messages(self) -> Iterator[Message]:
        """All messages. Raises Damaged after the last valid one."""
        for message, _ in self._messages():
            yield message

    def _messages(self) -> Iterator[Tuple[Message, _Reader]]:
        reader = self._reader(_abi.DEMO_MESSAGE)
        event = _abi.DemoEvent()
        while reader.next(event):
            read = self._read_message(event)
            if read is not None:
                yield read, reader
            self._open()

    def _read_message(self, event: _abi.DemoEvent) -> Optional[Message]:
        found = _abi.Message()
        common = lib.teewire_message_read(event.message, event.message_size, self._protocol, ctypes.byref(found), None)
        if common < 0:
            return None
        if found.name:
            kind = _abi.text(found.name)
        elif found.id == 0:
            kind = f"uuid {uuids.UUID(bytes=bytes(found.uuid))}"
        else:
            kind = f"{'system' if found.system else 'game'} message {found.id}"
        values: Dict[str, Any] = dict.fromkeys(Message._fields)
        if common:
            said = {"client_id": found.client_id, "victim": found.victim, "weapon": found.weapon, "team": found.team,
                    "target": found.target, "text": _text(_bytes(found.text, found.text_size)),
                    "name": _text(_bytes(found.sender, found.sender_size)),
                    "clan": _text(_bytes(found.clan, found.clan_size))}
            values.update((name, said[name]) for name in _SAID.get(kind, ()))
            if self.protocol != "0.7":
                values["target"] = None
        values.update(tick=_tick(event), kind=kind, fields=_bytes(found.fields, found.fields_size))
        return Message(**values)

    def chat(self) -> Iterator[Chat]:
        """All lines of chat, with the names of that moment. Raises Damaged after the last valid line."""
        names: Dict[int, str] = {}  # of those whom messages introduce
        to_team = 2 if self.protocol == "0.7" else 1
        for message, reader in self._messages():
            if message.name is not None and message.client_id is not None:
                names[message.client_id] = message.name
            if message.kind != "chat" or message.client_id is None or message.text is None or message.team is None:
                continue
            if message.client_id < 0:
                yield Chat(message.tick, "server_message", -1, None, message.text)
                continue
            players = Snapshot(self._protocol, None, False, reader.snapshot()).items("client_info", ["id", "name"])
            names.update((int(id), name) for id, name in zip(players["id"], players["name"]) if name is not None)
            kind = "chat" if message.team < to_team else "team_chat" if message.team == to_team else "whisper"
            yield Chat(message.tick, kind, message.client_id, names.get(message.client_id), message.text)

    def read_map(self) -> bytes:
        """The map inside the file; empty if there is none."""
        data = ctypes.c_void_p()
        reader = self._reader()
        size = lib.teewire_demo_reader_map(reader.pointer, ctypes.byref(data))
        return _bytes(data.value, size)


def _limit(tick: int) -> int:
    return max(-0x80000000, min(int(tick), 0x7FFFFFFF))


def _tick(event: _abi.DemoEvent) -> Optional[int]:
    return event.tick if event.tick >= 0 else None


def open(file: Union[str, os.PathLike[str], bytes, bytearray, memoryview]) -> Recording:
    """Opens a demo: the name of a file, or its bytes. Raises OSError, and Error if it is none or its header is damaged."""
    if isinstance(file, (bytes, bytearray, memoryview)):
        return Recording("<bytes>", bytes(file))
    with builtins.open(file, "rb") as opened:
        return Recording(os.fspath(file), opened.read())

