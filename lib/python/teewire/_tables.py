"""Items as columns."""
from __future__ import annotations

import codecs
import ctypes
import functools
import re
import uuid as uuids
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _abi
from ._abi import lib

if TYPE_CHECKING:
    import pandas

Array = np.ndarray[Any, Any]
# Columns that tables of items have next to their fields; a field with such a name has the type before its name.
OTHER_COLUMNS = ("recording", "id", "tick", "first_tick", "last_tick", "more")
FIRST_ALIAS, LAST_ALIAS = 0x4000, 0x7FFF


# A U+FFFD for every byte that is not UTF-8, as the program writes it.
codecs.register_error("teewire", lambda error: ("\ufffd" * (error.end - error.start), error.end))  # type: ignore


def decode(text: bytes) -> str:
    return text.decode("utf-8", "teewire")


class Column(NamedTuple):
    """A field, or an element of one."""
    name: str
    kind: int  # of the field
    place: int  # its first int
    ints: int
    words: Dict[int, str]  # by value; of flags by bit


class ItemType(NamedTuple):
    name: str
    number: int  # 0 for extended types
    uuid: Optional[bytes]
    columns: Tuple[Column, ...]
    described: int  # ints that have a name; others may follow


def _columns(protocol: int, number: int, type_name: str, count: int) -> List[Column]:
    made = []
    field = _abi.Field()
    for n in range(count):
        words = lib.teewire_field_at(protocol, number, n, ctypes.byref(field))
        name = _abi.text(field.name)
        if name in OTHER_COLUMNS:
            name = f"{type_name}_{name}"
        meaning = {field.first_word + w: lib.teewire_field_word(protocol, number, n, w).decode() for w in range(words)}
        if field.kind == _abi.FIELD_FLAGS:
            meaning = {1 << bit: word for bit, word in meaning.items()}
        for k in range(field.count):
            made.append(Column(f"{name}_{k}" if field.count > 1 else name, field.kind, field.offset + k * field.ints,
                               field.ints, meaning))
    return made


@functools.lru_cache(None)
def item_types(protocol: int) -> Dict[str, ItemType]:
    """All that have a name."""
    types: Dict[str, ItemType] = {}
    found = _abi.ItemType()
    while True:
        fields = lib.teewire_item_type_at(protocol, len(types), ctypes.byref(found))
        if fields < 0:
            return types
        name = _abi.text(found.name)
        columns = tuple(_columns(protocol, len(types), name, fields))
        types[name] = ItemType(name, found.type, None if found.type else bytes(found.uuid), columns,
                               max((c.place + c.ints for c in columns), default=0))


def find_type(protocol: int, name: str) -> ItemType:
    """Also of one that has no name: as "type_30" or "uuid_...", or "extended_type" for the items that describe types."""
    types = item_types(protocol)
    if name in types:
        return types[name]
    if name == "extended_type":
        return ItemType(name, 0, None, (), 0)
    if re.fullmatch(r"type_\d{1,5}", name):
        return ItemType(name, int(name[5:]), None, (), 0)
    if name.startswith("uuid_"):
        return ItemType(name, 0, uuids.UUID(name[5:]).bytes, (), 0)
    raise KeyError(f"there is no item type {name!r} in {_abi.PROTOCOLS[protocol]}; there are {', '.join(types)}")


def name_type(protocol: int, number: int, uuid: Optional[bytes]) -> str:
    """The name of a type number, or of an alias that stands for a UUID."""
    if uuid is None and number == 0:
        return "extended_type"
    for known in item_types(protocol).values():
        if known.uuid == uuid and (uuid is not None or known.number == number):
            return known.name
    return f"type_{number}" if uuid is None else f"uuid_{uuids.UUID(bytes=uuid)}"


class Items(Dict[str, Any]):
    """The items of one type: NumPy arrays of equal length by the name of the column, also as attributes, in the order of
    the file. They own their memory, and hold when the recording is closed.

    Ints, enumerations and flags are int32, booleans bool, texts str; `words` says what values of enumerations and bits of
    flags mean. Where an item lacks a field, as it was written by an older program, the column is a masked array, or a text
    None. `more` is there if items have ints behind the known ones: lists, or None."""

    item_type: str
    words: Dict[str, Dict[int, str]]
    _kinds: Dict[str, int]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"items of type {self.item_type} have no column {name!r}") from None

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame, without copying numbers: enumerations are categories, ints where some are missing Int32."""
        import pandas
        columns: Dict[str, Any] = {}
        for name, values in self.items():
            missing = values.mask if isinstance(values, np.ma.MaskedArray) else None
            numbers = values if missing is None else values.data
            if self._kinds.get(name) == _abi.FIELD_ENUMERATION:
                columns[name] = _categories(numbers, missing, self.words[name])
            elif missing is None:
                columns[name] = values
            elif values.dtype == bool:
                columns[name] = pandas.arrays.BooleanArray(numbers, missing)
            else:
                columns[name] = pandas.arrays.IntegerArray(numbers, missing)
        return pandas.DataFrame(columns, copy=False)


def _categories(values: Array, missing: Optional[Array], words: Dict[int, str]) -> Any:
    """A number that has no word is a category of its own: its digits."""
    import pandas
    first, last = min(words), max(words)
    if len(values) and (values.min() < first or values.max() > last):
        present, codes = np.unique(values, return_inverse=True)
        names = [words.get(int(value)) or str(value) for value in present]
    else:
        names = [words[value] for value in range(first, last + 1)]
        codes = (values - first).astype(np.int8 if len(names) < 128 else np.int16)
    if missing is not None:
        codes = np.where(missing, -1, codes)
    return pandas.Categorical.from_codes(codes, names)


def _texts(order: Array, parts: Array, missing: Optional[Array]) -> Array:
    """`parts` has the ints of a row's text in a column, `order` the rows by id. A player has the same text in many rows: only
    those are decoded that differ from the one before."""
    out = np.empty(len(order), dtype=object)
    if not len(out):
        return out
    new = np.zeros(len(order), dtype=bool)
    new[0] = True
    for ints in parts:
        ordered = ints[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    begins = np.flatnonzero(new)
    firsts = np.ascontiguousarray(parts[:, order[begins]].T)
    memory = ctypes.create_string_buffer(4 * len(parts))
    known: Dict[bytes, str] = {}
    texts = np.empty(len(begins), dtype=object)
    for n, ints in enumerate(firsts):
        raw = ints.tobytes()
        if raw not in known:
            size = lib.teewire_text_decode(raw, len(parts), memory)
            known[raw] = decode(memory.raw[:size])
        texts[n] = known[raw]
    out[order] = np.repeat(texts, np.diff(begins, append=len(order)))
    if missing is not None:
        out[missing] = None
    return out


# Fills a table whose columns are those places; returns them with as many columns as there are rows.
Read = Callable[[ItemType, Sequence[int]], Array]


def read_items(found: ItemType, with_ticks: bool, wanted: Optional[Sequence[str]], read: Read) -> Items:
    columns = {c.name: c for c in found.columns}
    heads = {"tick": _abi.COLUMN_TICK, "id": _abi.COLUMN_ID} if with_ticks else {"id": _abi.COLUMN_ID}
    names = [*heads, *columns] if wanted is None else list(wanted)
    with_more = wanted is None or "more" in names
    for name in names:
        if name not in heads and name not in columns and name != "more":
            raise KeyError(f"items of type {found.name} have no column {name!r}; there are {', '.join(heads)}, "
                           f"{', '.join(columns)}")
    chosen = [columns[name] for name in names if name in columns]
    # Ids and sizes are always needed.
    places = [_abi.COLUMN_ID, _abi.COLUMN_INTS, _abi.COLUMN_TICK][:2 + with_ticks]
    at = {}
    for column in chosen:
        at[column.name] = len(places)
        places += range(column.place, column.place + column.ints)
    block = read(found, places)
    ids, sizes = block[:2]
    fewest = int(sizes.min(initial=found.described))
    order = None  # rows by id

    items = Items()
    items.item_type = found.name
    items.words = {c.name: c.words for c in chosen if c.words}
    items._kinds = {c.name: c.kind for c in chosen}
    for name in names:
        if name == "id":
            items[name] = ids
        elif name == "tick" and with_ticks:
            items[name] = block[2]
        elif name in columns:
            column = columns[name]
            end = column.place + column.ints
            missing = sizes < end if fewest < end else None
            values: Array = block[at[name]]
            if column.kind == _abi.FIELD_TEXT:
                if order is None:
                    order = np.argsort(ids.astype(np.uint16), kind="stable")
                items[name] = _texts(order, block[at[name]:at[name] + column.ints], missing)
                continue
            if column.kind == _abi.FIELD_BOOLEAN:
                values = values != 0
            items[name] = values if missing is None else np.ma.MaskedArray(values, missing)
    most = int(sizes.max(initial=0))
    if with_more and most > found.described:
        rest = read(found, range(found.described, most))
        more = items["more"] = np.empty(len(ids), dtype=object)
        for row in np.flatnonzero(sizes > found.described):
            more[row] = rest[:sizes[row] - found.described, row].tolist()
    return items
