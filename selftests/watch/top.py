#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""top.py OHCACTL: looks at "ohcactl top" on a terminal that pyte emulates: layout, keys, sizes, the end."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

LIMIT = 30  # seconds for each step


class Terminal:
    """A program on a terminal"""

    def __init__(self, argv, lines, columns):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "linux"
            os.execv(argv[0], argv)
        self.resize(lines, columns)

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        """False: the program has ended."""
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.stream.feed(data)
        return bool(data)

    def wait(self, what, condition):
        end = time.monotonic() + LIMIT
        while not condition(self.screen.display):
            alive = self.read()
            if not alive or time.monotonic() > end:
                sys.exit("%s: %s\n%s" % (what, "time is over" if alive else "it has ended", "\n".join(self.screen.display)))

    def press(self, keys):
        os.write(self.fd, keys)

    def status(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def row(lines, begin):
    return next((i for i, line in enumerate(lines) if line.startswith(begin)), None)


def is_whole(height):
    """All tables are there, and the last line has the keys."""
    def check(lines):
        return (len(lines) == height and lines[0].startswith("ohcad ") and
                row(lines, "HCA             STATE") == 1 and row(lines, "hca0/1      eth  down") is not None and
                row(lines, "HCA         QPN TYPE") is not None and lines[-1].startswith("q quit"))
    return check


def main():
    terminal = Terminal([sys.argv[1], "top", "-d", "0.2"], 24, 80)
    terminal.wait("80 x 24", is_whole(24))
    # The widest title ends within the screen.
    assert terminal.screen.display[row(terminal.screen.display, "PORT ")].rstrip().endswith("DROP/s")
    assert terminal.screen.display[row(terminal.screen.display, "HCA         QPN")].rstrip().endswith("P99")
    for key, name in ((b"e", "errors"), (b"n", "number"), (b"s", "traffic"), (b"r", "retries")):
        terminal.press(key)
        terminal.wait(name, lambda lines: lines[0].rstrip().endswith("by " + name))
    terminal.resize(40, 120)
    terminal.wait("120 x 40", is_whole(40))
    terminal.resize(10, 40)
    terminal.wait("40 x 10", lambda lines: lines[-1].startswith("q quit") and lines[0].startswith("ohcad "))
    terminal.resize(24, 80)
    terminal.wait("80 x 24 again", is_whole(24))
    terminal.press(b"q")
    status = terminal.status()
    assert status == 0, (status, "\n".join(terminal.screen.display))


main()
