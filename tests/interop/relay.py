#!/usr/bin/env python3
"""A UDP relay that loses, doubles and delays datagrams in both directions.
usage: relay.py LISTEN_PORT SERVER_PORT PERCENT [SEED]"""
import heapq
import random
import select
import socket
import sys
import time

listen, server, percent = map(int, sys.argv[1:4])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
front.bind(("127.0.0.1", listen))
to_server, client_of = {}, {}
waiting, number = [], 0


def put(send, *arguments):
    global number
    if rng.randrange(100) < percent:
        return
    for _ in range(2 if rng.randrange(100) < percent else 1):
        delay = rng.uniform(0.02, 0.1) if rng.randrange(100) < percent else rng.uniform(0.002, 0.01)
        number += 1
        heapq.heappush(waiting, (time.monotonic() + delay, number, send, arguments))


while True:
    wait = max(0, waiting[0][0] - time.monotonic()) if waiting else 1
    for s in select.select([front, *client_of], [], [], wait)[0]:
        try:
            data, address = s.recvfrom(2048)
        except OSError:
            continue
        if s is not front:
            put(front.sendto, data, client_of[s])
            continue
        if address not in to_server:
            up = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            up.connect(("127.0.0.1", server))
            to_server[address], client_of[up] = up, address
        put(to_server[address].send, data)
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, send, arguments = heapq.heappop(waiting)
        try:
            send(*arguments)
        except OSError:
            pass
