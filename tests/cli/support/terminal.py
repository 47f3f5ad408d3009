# SPDX-License-Identifier: MIT
"""terminal.py -- run a command on a pseudo-terminal, and read its screen as a person would.

The screen understands what the laboratory writes: characters, carriage return, line feed,
backspace, cursor up, erase to the end of the line or of the screen, and styles.  Like xterm it
cuts lines when it is made narrower; like gnome-terminal it can break them anew.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """Rows of characters, and those that have scrolled away."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column, self.gone = [""], 0, 0, []

    def feed(self, text):
        at = 0
        while at < len(text):
            escape = ESCAPE.match(text, at)
            if escape:
                self.obey(escape.group(1), escape.group(2))
                at = escape.end()
                continue
            self.put(text[at])
            at += 1

    def obey(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
        elif letter != "m":
            raise ValueError("an escape sequence that nobody needs: " + number + letter)

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down()
        elif char >= " ":
            if self.column == self.columns:
                self.column = 0
                self.down()
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + char + line[self.column + 1:]
            self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")
        if len(self.lines) > self.rows:
            self.gone.append(self.lines.pop(0))
            self.row -= 1

    def narrow(self, columns):
        """Break lines anew, with the cursor where its text is; it stands at a line's begin."""
        lines, row = [], 0
        for i, line in enumerate(self.lines):
            if i == self.row:
                row = len(lines)
            lines += [line[k:k + columns] for k in range(0, max(len(line), 1), columns)]
        self.lines, self.row, self.columns = lines, row, columns
        while len(self.lines) > self.rows and self.row > 0:
            self.gone.append(self.lines.pop(0))
            self.row -= 1

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)

    def all(self):
        return "\n".join(line.rstrip() for line in self.gone + self.lines)


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, command, columns=80, rows=24, env=None, stdout=None):
        self.screen = Screen(columns, rows)
        self.raw = ""
        self.master, slave = pty.openpty()
        self.size(columns, rows)
        full = dict(os.environ, TERM="xterm", **(env or {}))
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=stdout or slave, stderr=slave, env=full,
            preexec_fn=lambda: self.own(), close_fds=True)
        os.close(slave)

    def own(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns):
        """As gnome-terminal does."""
        self.screen.narrow(columns)
        self.size(columns, self.screen.rows)

    def read(self, seconds):
        """Read what comes within that time.  False: the terminal was closed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.master], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            if not data:
                return False
            text = data.decode("utf-8", "replace")
            self.raw += text
            self.screen.feed(text)
            return True
        return True

    def until(self, seen, seconds=120):
        """Read until the function of the screen's text is true.  False: it never was."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if seen(self.screen.text()):
                return True
            if not self.read(0.2):
                return bool(seen(self.screen.text()))
        return False

    def key(self, char):
        os.write(self.master, char.encode())

    def wait(self, seconds=180):
        """Read to the end, and answer the exit status."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.read(0.5):
            if self.process.poll() is not None and not select.select([self.master], [], [], 0)[0]:
                break
        try:
            return self.process.wait(timeout=max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
