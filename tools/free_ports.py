#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""free_ports.py COUNT -- print free TCP ports of 127.0.0.1 for servers, each on a line.  Programs import free_ports().

Linux gives the ports from 32768 on to outgoing connections, so such a connection could take one of them before the
server does.  A laboratory, and the tests in C, choose from 15000 on (loadtest/kit/port.c).
"""
import errno
import itertools
import random
import socket
import sys

PORTS = range(10000, 15000)
HOLDERS = []


def hold(port):
    """Was the port free?  A bound socket holds it from now on."""
    holder = socket.socket()
    try:
        holder.bind(("127.0.0.1", port))
    except OSError as error:
        holder.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    # SO_REUSEADDR is set after bind(), which with this flag takes a port that another program holds.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    HOLDERS.append(holder)
    return True


def free_ports(count):
    """Different ports that no socket has, held until this program ends: a server that sets SO_REUSEADDR can bind
    them, at a restart too, and no other call, in any program, answers them."""
    ports = list(itertools.islice(filter(hold, random.sample(PORTS, len(PORTS))), count))
    if len(ports) < count:
        raise RuntimeError(f"127.0.0.1 has only {len(ports)} free ports from {PORTS.start} to {PORTS.stop - 1}, not {count}")
    return ports


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])), sep="\n")
