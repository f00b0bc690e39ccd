# SPDX-License-Identifier: Apache-2.0
"""cuvmm shell on a pseudo-terminal. For shell_test.sh: shell_terminal.py CUVMM FOLDER

No step waits for a fixed time: each waits for the shell's output, and fails if it does not appear.
"""
import os
import pty
import re
import select
import sys
import termios

CUVMM, FOLDER = sys.argv[1:3]
PROMPT = rb"cuvmm> (\x1b\[K)?$"


class Shell:
    def __init__(self, **more):
        self.seen = b""
        self.edits = more.get("TERM") != "dumb"
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = {k: v for k, v in os.environ.items() if not k.startswith("CUVMM_")}
            env.update(TERM="xterm", NO_COLOR="1", HOME=FOLDER, XDG_STATE_HOME=FOLDER + "/state")
            env.update(more)
            os.execve(CUVMM, [CUVMM, "shell"], env)

    def until(self, pattern):
        """The output up to and including the pattern."""
        while True:
            found = re.search(pattern, self.seen)
            if found:
                text, self.seen = self.seen[: found.end()], self.seen[found.end() :]
                return text
            if not select.select([self.fd], [], [], 30)[0]:
                sys.exit("%r did not come; there was %r" % (pattern, self.seen))
            try:
                more = os.read(self.fd, 4096)
            except OSError:
                more = b""
            if not more:
                sys.exit("the shell ended before %r; there was %r" % (pattern, self.seen))
            self.seen += more

    def prompt(self):
        """The output up to the prompt, once the shell reads input. libedit prints the prompt and then switches the "
          "terminal out of line mode, in which Ctrl-D would be an end of file that libedit never sees."""
        text = self.until(PROMPT)
        while self.edits and termios.tcgetattr(self.fd)[3] & termios.ICANON:
            os.sched_yield()
        return text

    def type(self, text):
        os.write(self.fd, text)

    def line(self, text):
        self.type(text + b"\n")
        return self.prompt()

    def end(self):
        """The exit status, after all output."""
        try:
            while os.read(self.fd, 4096):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(condition, what):
    if not condition:
        sys.exit("not so: " + what)


def first():
    shell = Shell()
    shell.until(rb"help lists the commands")
    shell.prompt()
    check(b"cuInit(0) -> CUDA_SUCCESS" in shell.line(b"ini\t"), "a command is completed")
    shell.line(b"first_range = reserve 2gran")
    check(b"VMM-MAP-OVERLAP" in shell.line(b"explain VMM-MAP-OV\t"), "a rule is completed")
    check(b"cuMemAddressFree(first_range, 4MiB)" in shell.line(b"free fi\t"), "a name is completed")
    shell.type(b"re\t\t")
    shell.until(rb"read +ready +record +release +requirements +reserve +retain")
    shell.type(b"serve 1gran\x03")
    shell.until(rb"\^C")
    shell.until(rb"cuvmm> ")
    check(b"type instead: devices" in shell.line(b"devces"), "after Ctrl-C the line is empty and the shell is there")
    shell.type(b"\x04")
    check(shell.end() == 0, "Ctrl-D ends, and mistakes at a terminal are no failure")


def second():
    """The history recalls earlier lines; `free` is three lines up."""
    shell = Shell()
    shell.prompt()
    shell.line(b"init")
    shell.type(b"\x1b[A\x1b[A")
    shell.until(rb"devces")
    shell.type(b"\n")
    shell.until(rb"did you mean devices")
    shell.type(b"quit\n")
    check(shell.end() == 0, "quit ends")


def plain():
    """A terminal that cannot move its cursor."""
    shell = Shell(TERM="dumb")
    shell.prompt()
    check(b"cuInit(0)" in shell.line(b"init"), "a dumb terminal")
    shell.type(b"quit\n")
    check(shell.end() == 0, "ends as well")


def forgetful():
    """If the history cannot be saved, the shell says so once and carries on."""
    shell = Shell(XDG_STATE_HOME="/dev/null/state")
    shell.until(rb"is not kept for another time")
    shell.prompt()
    check(b"cuInit(0)" in shell.line(b"init"), "a shell without history is a shell")
    shell.type(b"quit\n")
    check(shell.end() == 0, "to its end")


first()
second()
plain()
forgetful()
