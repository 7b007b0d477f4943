# SPDX-License-Identifier: MIT
"""What our rules do, in a few lines and apart from the broker's own code.

For one simple command, given by its words, or one path. What allows is exact here; what
tightens may match more in truth (options in any order, wrappers, resolved paths), never less.
"""
import os
import re

KINDS = {
    "Bash": "execute", "bash": "execute", "run_shell_command": "execute", "Read": "read",
    "read": "read", "read_file": "read", "read_many_files": "read", "lsp": "read",
    "Edit": "edit", "Write": "edit", "edit": "edit", "write": "edit", "replace": "edit",
    "write_file": "edit", "glob": "search", "grep": "search", "list": "search",
    "list_directory": "search", "grep_search": "search", "search_file_content": "search",
    "WebFetch": "fetch", "WebSearch": "fetch", "webfetch": "fetch", "websearch": "fetch",
    "codesearch": "fetch", "web_fetch": "fetch", "google_web_search": "fetch",
    "task": "think", "Task": "think", "Agent": "think", "todowrite": "think",
    "todoread": "think", "write_todos": "think", "update_topic": "think",
}
NAMED = {"Bash": "execute", "Read": "read", "Edit": "edit", "Write": "edit", "WebFetch": "fetch"}
WILD = 0
RULE = re.compile(r"(allow|ask|deny) ([^ (]+)(?:\((.*)\))?$", re.S)


def kind_of(tool):
    return KINDS.get(tool, "other")


def units(spec):
    """Characters, and WILD."""
    out, i = [], 0
    while i < len(spec):
        byte = re.match(r"\\\{([0-9A-Fa-f]{2})\}", spec[i:])
        if byte:
            out.append(chr(int(byte.group(1), 16)))
            i += 5
        elif spec.startswith("\\*", i):
            out.append("\\*")
            i += 2
        else:
            out.append(WILD if spec[i] == "*" else spec[i])
            i += 1
    return out


def words_of(spec, allow):
    """Lists of units; None: more than a simple command."""
    words, word, quote, escaped = [], None, None, False
    for u in units(spec):
        c = "*" if u == "\\*" else u
        if escaped:
            word = (word or []) + [c]
            escaped = False
        elif quote:
            if c == quote:
                quote = None
            elif quote == '"' and c in ("$", "`", "\\"):
                return None
            else:
                word.append(c)
        elif c in ("'", '"') and u != "\\*":
            quote = c
            word = word or []
        elif c == "\\":
            escaped = True
        elif c in (" ", "\t"):
            if word is not None:
                words.append(word)
            word = None
        elif c != WILD and c in ";&|<>()\n`$":
            return None
        elif allow and c != WILD and c in "*?[":
            # only what a shell would expand, and the words here are quoted
            word = (word or []) + ["\ue000"]
        else:
            word = (word or []) + [c]
    if quote:
        raise ValueError("quotation mark in %r" % spec)
    if word is not None:
        words.append(word)
    return words


def glob(spec, allow):
    """The regular expression of a SPEC over words that NUL joins; None: a text."""
    opened = spec.endswith(":*")
    words = words_of(spec[:-2] if opened else spec, allow)
    if not words or (WILD not in words[0] and "=" in words[0]):
        return None
    if not opened and len(words) > 1 and words[-1] == [WILD]:
        opened = True
        words.pop()
    text = "\0".join("".join("\1" if u == WILD else u for u in w) for w in words)
    text = re.escape(text).replace(re.escape("\1"), ".*")
    return re.compile(text + ("(\0.*)?" if opened else "") + r"\Z", re.S)


def component(pattern):
    return re.compile("".join("[^/]*" if c == "*" else "[^/]" if c == "?" else re.escape(c)
                              for c in pattern) + r"\Z", re.S)


def path_match(spec, path, loose):
    raw = re.sub(r"\\\{([0-9A-F]{2})\}", lambda m: chr(0xe100 + int(m.group(1), 16)), spec)
    for start, anchor in (("//", "/"), ("~/", "/home/u"), ("/", "/w"), ("./", "/w"), ("", "/w")):
        if raw.startswith(start):
            rest = raw[len(start):]
            break
    deep = start == "" and "/" not in rest.rstrip("/")
    below = os.path.relpath(path, anchor)
    if below == ".." or below.startswith("../"):
        return False
    have = [] if below == "." else ["".join(c if c not in "*?[" and c < "\x80" else
                                            chr(0xe100 + ord(c)) for c in part)
                                    for part in below.split("/")]
    want = [p for p in rest.split("/") if p not in ("", ".")]
    want = [re.sub("[\ue100-\ue1ff]", lambda m: m.group(0) if chr(ord(m.group(0)) - 0xe100)
                   in "*?[" else chr(ord(m.group(0)) - 0xe100), w) for w in want]
    only_below = rest.endswith("/") or (want and want[-1] == "**")
    while want and want[-1] == "**":
        want.pop()
    if deep:
        want = ["**"] + want

    def match(w, h):
        if not w:
            return bool(h) or not only_below or loose
        if w[0] == "**":
            return any(match(w[1:], h[i:]) for i in range(len(h) + 1))
        return bool(h) and bool(component(w[0]).match(h[0])) and match(w[1:], h[1:])
    return match(want, have)


class Rules:
    def __init__(self, texts):
        self.rules = []
        for text in texts:
            verdict, tool, spec = RULE.match(text).groups()
            self.rules.append((verdict, tool, spec))

    @staticmethod
    def about(tool, call, verdict):
        kind = kind_of(call)
        if tool == "*" or tool == call:
            return True
        if tool.startswith("@"):
            return tool[1:] == kind
        if tool in NAMED:
            return NAMED[tool] == kind or (
                verdict != "allow" and NAMED[tool] == "read" and kind == "search")
        if re.fullmatch("mcp__(?:(?!__).)+", tool) and not tool.endswith("*"):
            return call.startswith(tool + "__")
        return tool.endswith("*") and call.startswith(tool[:-1])

    @staticmethod
    def matches(spec, verdict, words, path, host):
        if spec is None or spec == "*":
            return True
        if words is not None:
            expression = glob(spec, verdict == "allow")
            if expression is None:
                return verdict == "allow" and spec == " ".join(words)
            if expression.match("\0".join(words)):
                return True
            base = [os.path.basename(words[0])] + words[1:]
            return verdict != "allow" and bool(expression.match("\0".join(base)))
        if path is not None:
            return path_match(spec, path, verdict != "allow")
        if host is not None and spec.startswith("domain:"):
            name = spec[7:]
            if name.startswith("*."):
                return host.endswith(name[1:])
            return host == name or host.endswith("." + name)
        return False

    def verdict(self, tool, words=None, path=None, host=None):
        """deny, ask, allow, or None where no rule speaks."""
        for verdict in ("deny", "ask", "allow"):
            for v, t, spec in self.rules:
                if v == verdict and self.about(t, tool, v) and \
                        self.matches(spec, v, words, path, host):
                    return verdict
        return None
