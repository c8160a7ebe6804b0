"""A game server that a test controls."""
import select
import socket
import threading

from demo_codec import pack_int as pack

SYSTEM = 1  # of a message's first int
MAP_CHANGE, MAP_DATA, CON_READY, SNAP, SNAP_EMPTY, SNAP_SINGLE = 2, 3, 4, 5, 6, 7  # system
INFO, READY, ENTER_GAME, INPUT = 1, 14, 15, 16  # of clients, system
CHAT, SPECTATE, START_INFO = 3, 19, 20  # game


def unpack(data):
    """The ints at the front of bytes that hold nothing else up to there."""
    ints, at = [], 0
    while at < len(data):
        sign, value, shift = data[at] & 0x40, data[at] & 0x3f, 6
        while data[at] & 0x80:
            at += 1
            if at == len(data):
                return ints
            value |= (data[at] & 0x7f) << shift
            shift += 7
        at += 1
        ints.append(~value if sign else value)
    return ints


class Server:
    """Speaks DDNet's protocol to one client at a time, in a thread of its own; a context that ends it."""
    token = b"\x11\x22\x33\x44"
    every = 0.005  # seconds, between two calls of go_on()

    def begin(self):
        """A client has come."""

    def go_on(self):
        """Called again and again, as long as there is a client."""

    def receive(self, message):
        """The messages of the client."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.client = None

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.socket.close()

    def send(self, message, vital=False):
        if self.client is None:
            return
        head = [len(message) >> 4, len(message) & 15]
        if vital:
            self.sequence = (self.sequence + 1) % 1024
            head = [0x40 | head[0], head[1] | self.sequence >> 2 & 0xf0, self.sequence & 255]
        self.socket.sendto(bytes([self.acked >> 8, self.acked & 255, 1, *head]) + message + self.token, self.client)

    def say(self, number, *ints, text=None, vital=True):
        """A game message."""
        self.send(b"".join(map(pack, [number << 1, *ints])) + (b"" if text is None else text + b"\0"), vital)

    def change_map(self, name, size=0, crc=0):
        self.send(pack(MAP_CHANGE << 1 | SYSTEM) + name + b"\0" + pack(crc) + pack(size), True)

    def snapshot(self, tick, items, base=-1, checksum=None, removed=()):
        """`items`: (type, id, ints), of which those of a snapshot with a base are what is added to it."""
        ints = [len(removed), len(items), 0, *removed, *(i for kind, number, data in items for i in (kind, number, *data))]
        data = b"".join(map(pack, ints))
        if checksum is None:
            checksum = sum(sum(data) for _, _, data in items)
        checksum = (checksum + 2**31) % 2**32 - 2**31
        self.send(pack(SNAP_SINGLE << 1 | SYSTEM) + pack(tick) + pack(tick - base) + pack(checksum) + pack(len(data)) + data)

    def empty_snapshot(self, tick, base):
        self.send(pack(SNAP_EMPTY << 1 | SYSTEM) + pack(tick) + pack(tick - base))

    def close(self, reason):
        if self.client is not None:
            self.socket.sendto(bytes([0x10 | self.acked >> 8, self.acked & 255, 0, 4]) + reason + b"\0" + self.token,
                               self.client)
        self.client = None

    def serve(self):
        while not self.over.is_set():
            while select.select([self.socket], [], [], self.every)[0]:
                data, sender = self.socket.recvfrom(2048)
                if len(data) > 3 and data[0] >> 4 & 1 and data[3] == 1:
                    self.client, self.sequence, self.acked = sender, 0, 0
                    self.socket.sendto(b"\x10\0\0\2TKEN" + self.token, sender)
                    self.begin()
                elif len(data) > 3 and data[0] >> 4 & 1 and data[3] == 4:
                    self.client = None
                elif len(data) > 5 and not data[0] >> 4 & 1 and sender == self.client and not data[0] & 0x80:
                    # Chunks of clients are few; what is vital is acknowledged.
                    at = 3
                    for _ in range(data[2]):
                        size = (data[at] & 0x3f) << 4 | data[at + 1] & 15
                        if data[at] & 0x40:
                            self.acked = (data[at + 1] & 0xf0) << 2 | data[at + 2]
                            at += 1
                        self.receive(data[at + 2:at + 2 + size])
                        at += 2 + size
            if self.client is not None:
                self.go_on()


class MapChanger(Server):
    """Changes its map after every few snapshots."""

    def __init__(self, changes):
        super().__init__()
        self.left = changes
        self.tick = 100

    def begin(self):
        self.change_map(b"map0")

    def go_on(self):
        self.tick += 1
        self.snapshot(self.tick, [(9, 0, [self.tick] + [1] * 21)])
        if self.tick % 4 == 0 and self.left > 0:
            self.left -= 1
            self.change_map(b"map%d" % self.tick)
