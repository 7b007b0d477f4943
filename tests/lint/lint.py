#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a compiler does not check, over all sources below the top of the tree:
which part may include which, licence lines, lengths, and the like.

    lint.py [TOP]

Prints each breach as FILE:LINE: TEXT; exit status 1 when there is one.
"""
import os
import re
import sys

FOLDERS = ("broker", "libapproval", "frontends", "tests", "contrib")
TOP_FILES = ("Makefile.am", "configure.ac")
MAX_COLUMNS = 100
FORMAT_OFF, FORMAT_ON = "/* clang-format off */", "/* clang-format on */"
MAX_LINES = 500
MAX_TEST_LINES = 1200  # a test program is a list of cases, read one by one

# Files that may be longer, each with its reason. None is.
LONGER = {}

# Any part may include these.
COMMON = ("libapproval/limits.h", "libapproval/bytes.h", "config.h")

# Libraries by the headers that show their use.
LIBRARIES = {
    "event": r"event2?[/.].*|evutil\.h",
    "msgpack": r"msgpack.*",
    "sqlite": r"sqlite3.*",
    "json": r"json(-c)?/.*",
    "ini": r"ini\.h",
    "nettle": r"nettle/.*",
    "notify": r"(libnotify|glib|gio|dbus|systemd)[/.-].*",
    "kernel": r"(sys/(socket|un|epoll|stat|time|types|wait|mman|signalfd|ioctl|random)"
              r"|linux/.*|unistd|fcntl|poll|pthread|signal|dirent|pwd|grp|time|sched)\.h",
    "check": r"check\.h",
}

# The first that a path matches is its part: (pattern, own parts it may include, libraries that
# it may not use). A file may always include what COMMON holds.
PARTS = (
    (r"broker/core/", r"broker/core/.*",
     ("event", "msgpack", "sqlite", "json", "ini", "nettle", "notify", "kernel")),
    (r"broker/store/", r"broker/store/.*|broker/core/(types|row)\.h",
     ("event", "msgpack", "ini", "json", "notify")),
    (r"broker/", r"broker/.*|libapproval/wire/.*",
     ("msgpack", "sqlite", "json", "notify")),
    (r"libapproval/wire/", r"libapproval/wire/.*",
     ("event", "sqlite", "json", "ini", "nettle", "notify", "kernel")),
    (r"libapproval/", r"libapproval/.*",
     ("event", "msgpack", "sqlite", "json", "ini", "notify")),
    (r"frontends/common/", r"frontends/common/.*|libapproval/approval\.h",
     ("msgpack", "sqlite", "event")),
    (r"frontends/(ctl|policy)/", r"frontends/(\1|common)/.*|libapproval/approval\.h|broker/io/explain\.h",
     ("msgpack", "sqlite")),
    (r"frontends/([^/]+)/", r"frontends/(\1|common)/.*|libapproval/approval\.h",
     ("msgpack", "sqlite")),
    (r"contrib/", r"libapproval/approval\.h", ("msgpack", "sqlite")),
    (r"tests/", r".*", ()),
)

# Only these know both the core (beyond its vocabulary) and the wire.
BOTH = r"broker/io/(gateway|facts|explain)"

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
MARKS = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X")) + r")\b")
GENERATED = re.compile(r"(generated|made) (by|from)|do not edit", re.I)


class Lint:
    def __init__(self, top):
        self.top = top
        self.breaches = []
        self.files = 0

    def breach(self, path, line, text):
        self.breaches.append("%s:%d: %s" % (path, line, text))

    def run(self):
        for path in self.sources():
            with open(os.path.join(self.top, path), encoding="utf-8", errors="surrogateescape",
                      newline="") as f:
                text = f.read()
            if self.generated(path, text):
                continue
            self.files += 1
            self.check_licence(path, text)
            if path.endswith((".c", ".h")):
                self.check_c(path, text)

    def sources(self):
        """Paths of what is written by hand, as far as that shows from their place and name."""
        found = [f for f in TOP_FILES if os.path.isfile(os.path.join(self.top, f))]
        for folder in FOLDERS:
            for base, folders, names in os.walk(os.path.join(self.top, folder)):
                # .deps, .libs, and builds made inside of the tree
                folders[:] = sorted(d for d in folders if not d.startswith(".")
                                    and not os.path.exists(os.path.join(base, d, "config.status")))
                for name in sorted(names):
                    if name.endswith((".c", ".h", ".py", ".sh", ".mk")):
                        found.append(os.path.relpath(os.path.join(base, name), self.top))
        return found

    @staticmethod
    def generated(path, text):
        return path.endswith((".c", ".h")) and bool(GENERATED.search(text.split("\n", 1)[0]))

    def check_licence(self, path, text):
        lines = text.split("\n")[:2]
        if path.endswith((".c", ".h")):
            if lines[0] != "/* SPDX-License-Identifier: MIT */":
                self.breach(path, 1, "the first line is not the licence's")
        elif not any(line == "# SPDX-License-Identifier: MIT" for line in lines):
            # the first line of a script is its interpreter's
            self.breach(path, 1, "no licence line at its start")

    def check_c(self, path, text):
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        else:
            self.breach(path, len(lines), "no newline at the end")
        most = MAX_TEST_LINES if path.startswith("tests/") else MAX_LINES
        if len(lines) > most and path not in LONGER:
            self.breach(path, most + 1, "over %d lines" % most)
        laid_out = False  # by hand: a table
        for n, line in enumerate(lines, 1):
            laid_out = FORMAT_OFF in line or (laid_out and FORMAT_ON not in line)
            self.check_line(path, n, line)
            if not laid_out and len(line.expandtabs(8)) > MAX_COLUMNS:
                self.breach(path, n, "over %d columns" % MAX_COLUMNS)
        # strings first: one may hold what looks like a comment, never the other way here
        code = STRING.sub('""', text)
        code = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), code)
        for m in re.finditer(r"\btypedef\s+(struct|union)\b[^;({]*[;{]", code):
            self.breach(path, code.count("\n", 0, m.start()) + 1, "typedef of a " + m.group(1))
        self.check_includes(path, text)

    def check_line(self, path, n, line):
        indent = line[:len(line) - len(line.lstrip(" \t"))]
        if line != line.rstrip():
            self.breach(path, n, "space at the end of the line")
        if " \t" in indent:
            self.breach(path, n, "a space before a tab")
        elif indent.endswith(" " * 8):
            self.breach(path, n, "indented by spaces")
        elif indent.startswith(" ") and not re.match(r" (\*|\* |[^ ])", line):
            self.breach(path, n, "indented by spaces")
        m = MARKS.search(line)
        if m:
            self.breach(path, n, m.group(1))

    def check_includes(self, path, text):
        own, barred = None, ()
        for pattern, allowed, libraries in PARTS:
            m = re.match(pattern, path)
            if m:
                own, barred = m.expand(allowed) if m.groups() else allowed, libraries
                break
        if own is None:
            self.breach(path, 1, "belongs to no part that the lint knows")
            return
        core = wire = 0
        for n, line in enumerate(text.split("\n"), 1):
            m = INCLUDE.match(line)
            if not m:
                continue
            quoted, system = m.groups()
            if quoted:
                self.check_quoted(path, n, quoted, own)
                if quoted.startswith("broker/core/") and quoted != "broker/core/types.h":
                    core = n
                if quoted.startswith("libapproval/wire/"):
                    wire = n
            else:
                for name in barred:
                    if re.fullmatch(LIBRARIES[name], system):
                        self.breach(path, n, "<%s> (%s) is not for this part" % (system, name))
        if core and wire and path.startswith("broker/") and not re.match(BOTH, path):
            self.breach(path, max(core, wire), "the core and the wire meet only in the gateway")

    def check_quoted(self, path, n, quoted, own):
        if quoted in COMMON:
            return
        if ".." in quoted.split("/") or not re.fullmatch(own, quoted):
            self.breach(path, n, '"%s" is not for this part' % quoted)
        elif not os.path.isfile(os.path.join(self.top, quoted)):
            self.breach(path, n, '"%s" is not there, from the top of the tree' % quoted)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    lint = Lint(top)
    lint.run()
    for text in lint.breaches:
        print(text)
    print("%d files, %d breaches" % (lint.files, len(lint.breaches)))
    if lint.files == 0:
        print("no sources below %s" % top)
        return 2
    return 1 if lint.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
