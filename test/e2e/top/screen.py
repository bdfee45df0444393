# SPDX-License-Identifier: Apache-2.0
"""A program on a pseudo-terminal of type vt100, and the text on its screen."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

PATIENCE_S = 60


class Screen:
    def __init__(self, command, width=120, lines=24, terminal='vt100'):
        self.width, self.lines, self.raw = width, lines, b''
        self.clear()
        pid, master = pty.fork()
        if pid == 0:
            os.environ['TERM'] = terminal
            os.environ['LC_ALL'] = 'C.UTF-8'
            self.set_size(0)
            os.execv(command[0], command)
        self.pid, self.master, self.status = pid, master, None

    def set_size(self, descriptor):
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack('HHHH', self.lines, self.width, 0, 0))

    def resize(self, width, lines):
        self.width, self.lines = width, lines
        self.clear()
        self.set_size(self.master)

    def clear(self):
        self.cells, self.row, self.column, self.pending = [[' '] * self.width for _ in range(self.lines)], 0, 0, ''

    def type(self, text):
        os.write(self.master, text.encode())

    def text(self):
        return '\n'.join(''.join(row).rstrip() for row in self.cells)

    def read(self, patience_s):
        """Reads output. Returns False when the program has closed its terminal."""
        if not select.select([self.master], [], [], patience_s)[0]:
            return True
        try:
            block = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += block
        self.feed(block.decode('utf-8', 'replace'))
        return bool(block)

    def wait_for(self, condition):
        """Waits for `condition`: a text on the screen, or a function of the screen's text."""
        test = condition if callable(condition) else lambda text: condition in text
        deadline = time.monotonic() + PATIENCE_S
        while not test(self.text()):
            if time.monotonic() > deadline or not self.read(0.05):
                raise AssertionError(f'{condition!r} is not on the screen:\n{self.text()}')

    def wait_for_end(self):
        """Returns the exit status, as a shell shows it after a signal."""
        deadline = time.monotonic() + PATIENCE_S
        while self.status is None:
            if self.master is not None:
                self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                raise AssertionError('it does not end:\n' + self.text())
        while self.master is not None and select.select([self.master], [], [], 0)[0] and self.read(0):
            pass
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self.master is not None:
            os.close(self.master)

    def feed(self, text):
        text = self.pending + text
        self.pending = ''
        while text:
            if text[0] != '\x1b':
                self.put(text[0])
                text = text[1:]
            elif match := re.match(r'\x1b(?:\[([\d;?]*)([A-Za-z])|[()][0-9A-B]|[=>78DEMc])', text):
                self.obey(match[1], match[2])
                text = text[match.end():]
            elif len(text) < 16:
                self.pending = text
                return
            else:
                text = text[1:]

    def put(self, character):
        if character == '\r':
            self.column = 0
        elif character == '\n':
            self.row = min(self.row + 1, self.lines - 1)
        elif character == '\b':
            self.column = max(self.column - 1, 0)
        elif character >= ' ':
            if self.column < self.width and self.row < self.lines:
                self.cells[self.row][self.column] = character
            self.column += 1

    def obey(self, parameters, command):
        if command is None or '?' in parameters:
            return
        numbers = [int(number or 0) for number in parameters.split(';')]
        count = max(numbers[0], 1)
        if command in 'Hf':
            self.row, self.column = count - 1, max(numbers[1], 1) - 1 if len(numbers) > 1 else 0
        elif command == 'A':
            self.row = max(self.row - count, 0)
        elif command == 'B':
            self.row = min(self.row + count, self.lines - 1)
        elif command == 'C':
            self.column = min(self.column + count, self.width - 1)
        elif command == 'D':
            self.column = max(self.column - count, 0)
        elif command == 'J':
            self.erase(numbers[0], below=True)
        elif command == 'K':
            self.erase(numbers[0], below=False)

    def erase(self, how, below):
        first = 0 if how else self.column
        last = self.column + 1 if how == 1 else self.width
        if self.row < self.lines:
            self.cells[self.row][first:last] = [' '] * max(last - first, 0)
        if below:
            for row in range(self.row + 1 if how == 0 else 0, self.lines):
                self.cells[row] = [' '] * self.width
