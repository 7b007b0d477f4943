# SPDX-License-Identifier: MIT
"""Sources of rules: random lists of each, as files, and what each agent makes of them.

Written from the agents' own descriptions and code, not from the importer. Each verdict is
what the agent does with one simple command (its words), path, host or tool.
"""
import json
import os
import random
import re
import shlex

COMMANDS = ["git", "npm", "rm", "ls", "lsx", "make", "cat", "cd", "docker"]
WORDS = ["push", "status", "run", "test", "test:unit", "build", "--force", "-rf", "-f", "main",
         "origin", "a b", "x", "/etc/x", "../y", "src/a", "*", "it's", "#1"]
PATHS = ["src", "docs", "a.md", ".env", "x.env", "b.c", "deep"]
STRICT = {"allow": 0, "ask": 1, "deny": 2}


def strictest(verdicts):
    return max(verdicts, key=STRICT.get)


class Choice(random.Random):
    """Chooses of few words in one list of rules, so that its rules and the calls meet."""

    def __init__(self, seed):
        super().__init__(seed)
        few = self.random() < 0.7
        self.commands = self.sample(COMMANDS, 2) if few else COMMANDS
        self.words = self.sample(WORDS, 3) if few else WORDS
        self.paths = self.sample(PATHS, 3) if few else PATHS


def some_command(rng):
    words = [rng.choice(rng.commands)]
    if rng.random() < 0.1:
        words[0] = "/usr/bin/" + words[0]
    return words + [rng.choice(rng.words) for _ in range(rng.randint(0, 3))]


def filled(rng, pattern, fill):
    """A text that the pattern may match, with something or nothing for each wildcard."""
    return re.sub(r"[*?]", lambda m: rng.choice(fill) if m.group() == "*" else
                  rng.choice("x/ *"), pattern)


def command_like(rng, patterns):
    """Words that one of the patterns may match, or any."""
    if patterns and rng.random() < 0.5:
        try:
            words = shlex.split(filled(rng, rng.choice(patterns),
                                       ["", "x", "x y", " ", "/etc/x", *rng.words]))
        except ValueError:
            words = []
        if words and re.fullmatch(r"[\w/.-]+", words[0]):
            return words
    return some_command(rng)


def path_like(rng, patterns):
    patterns = [p for p in patterns if p[0] not in "~$/"]
    if patterns and rng.random() < 0.6:
        text = filled(rng, rng.choice(patterns), ["", "a", "a/b", "src", *rng.paths])
        return os.path.normpath("/w/" + text)
    return some_path(rng)


def raw(words):
    return " ".join(shlex.quote(w) for w in words)


def spelled(words, verdict):
    """The verdict on the words as they are quoted here, and the mildest of all spellings.

    An agent that compares the text of a command tells them apart. Ours compares words."""
    others = [" ".join(re.sub(r"([^\w@%+=:,./-])", r"\\\1", w) for w in words),
              " ".join(w if w.isalnum() else '"%s"' % w for w in words)]
    strict = verdict(raw(words))
    return strict, min([strict] + [verdict(o) for o in others], key=STRICT.get)


def some_glob(rng, one=False):
    """A pattern of text as people write them, and stranger ones."""
    words = some_command(rng)[:rng.randint(1, 3)]
    words = [w for w in words if rng.random() < 0.1 or w.isalnum() or w[0] in "-/."] or ["git"]
    kind = rng.randint(0, 9)
    if kind < 3:
        return " ".join(words) + " *"
    if kind < 5:
        return " ".join(words)
    if kind == 5:
        return " ".join(words) + "*"
    if kind == 6:
        words.insert(rng.randint(0, len(words)), "*")
        return " ".join(words)
    if kind == 7:
        text = list(" ".join(words))
        text.insert(rng.randint(0, len(text)), "*")
        return "".join(text)
    if kind == 8 and one:
        text = list(" ".join(words))
        text[rng.randrange(len(text))] = "?"
        return "".join(text)
    return rng.choice(["*", "* main", "*--force*", "git * main", "rm -rf '*'", "echo \"$X\" *",
                       "git push;*", "FOO=1 git *", "time git *", "* *", "git  push *", "~/x *"])


def some_path(rng):
    if rng.random() < 0.1:
        return rng.choice(["/etc/passwd", "/home/u/p/.env", "/home/u/q", "/w2/src/a.md"])
    return "/w/" + "/".join(rng.choice(rng.paths) for _ in range(rng.randint(1, 4)))


def some_path_glob(rng):
    parts = [rng.choice(rng.paths) for _ in range(rng.randint(1, 3))]
    kind = rng.randint(0, 7)
    if kind == 0:
        return "*"
    if kind == 1:
        return "*" + rng.choice([".env", ".md", "secret*", "/src/*", "a*b"])
    if kind == 2:
        parts[-1] = "*"
    elif kind == 3:
        parts[-1] = "*" + os.path.splitext(parts[-1])[1]
    elif kind == 4:
        parts[rng.randrange(len(parts))] = "*"
    elif kind == 5:
        text = list("/".join(parts))
        text.insert(rng.randint(0, len(text)), rng.choice("*?"))
        return "".join(text)
    elif kind == 6:
        return rng.choice(["~/p/*", "$HOME/q", "/etc/*", "../*", "./src/*", "src/**/*.md", "**/a.md"])
    return "/".join(parts)


# ---- Claude Code ----

class Claude:
    name = "claude"

    def __init__(self, rng):
        def rule():
            if rng.random() < 0.15:
                return rng.choice(["WebFetch(domain:example.com)", "WebFetch", "WebSearch",
                                   "WebFetch(domain:a.example.com)", "mcp__s", "mcp__s__get",
                                   "mcp__t__*", "Bash", "Bash(*)", "Agent(X)"])
            text = some_glob(rng)
            if rng.random() < 0.2 and text.endswith(" *"):
                text = text[:-2] + ":*"
            return "Bash(%s)" % text
        self.lists = {v: [rule() for _ in range(rng.randint(0, n))]
                      for v, n in (("allow", 6), ("ask", 2), ("deny", 2))}

    def text(self):
        return json.dumps({"permissions": self.lists}, indent=1)

    @staticmethod
    def matches(rule, tool, text=None, host=None):
        name, _, spec = rule.partition("(")
        spec = spec[:-1] if spec else None
        if name.startswith("mcp__") and tool.startswith("mcp__"):
            name = name[:-3] if name.endswith("__*") else name
            return tool == name or tool.startswith(name + "__")
        if name != tool:
            return False
        if spec is None or spec == "*":
            return True
        if tool == "WebFetch":
            return host == spec[len("domain:"):]
        if tool != "Bash":
            return False
        if spec.endswith(":*"):
            spec = spec[:-2] + " *"
        expression = re.escape(spec).replace(r"\*", ".*")
        if spec.endswith(" *"):
            expression = re.escape(spec[:-2]).replace(r"\*", ".*") + "( .*)?"
        return bool(re.fullmatch(expression, text, re.S))

    def verdict(self, tool, **call):
        for verdict in ("deny", "ask", "allow"):
            if any(self.matches(r, tool, **call) for r in self.lists[verdict]):
                return verdict
        return "ask"

    def calls(self, rng):
        rules = [r[5:-1].replace(":*", " *") for v in self.lists.values() for r in v
                 if r.startswith("Bash(")]
        for _ in range(40):
            words = command_like(rng, rules)
            yield {"tool": "Bash", "words": words}, spelled(
                words, lambda text: self.verdict("Bash", text=text))
        for host in ("example.com", "a.example.com", "b.a.example.com", "example.org"):
            yield {"tool": "WebFetch", "host": host}, self.verdict("WebFetch", host=host)
        for tool in ("WebSearch", "mcp__s__get", "mcp__s__put", "mcp__t__x", "mcp__u__x"):
            yield {"tool": tool}, self.verdict(tool)


# ---- Codex ----

class Codex:
    name = "codex"
    names = {"allow": "allow", "ask": "prompt", "deny": "forbidden"}

    def __init__(self, rng):
        self.rules = []
        for _ in range(rng.randint(1, 6)):
            pattern = [rng.choice(rng.commands)] + [rng.choice(rng.words) for _ in range(rng.randint(0, 2))]
            pattern = [[w, rng.choice(rng.commands if i == 0 else rng.words)] if rng.random() < 0.2 else w
                       for i, w in enumerate(pattern)]
            self.rules.append((rng.choice(["allow", "allow", "ask", "deny"]), pattern))

    def text(self):
        return "".join("prefix_rule(pattern = %s, decision = %s)\n" %
                       (json.dumps(p), json.dumps(self.names[v])) for v, p in self.rules)

    def verdict(self, words):
        found = []
        for verdict, pattern in self.rules:
            if len(words) >= len(pattern) and all(
                    w == p or (isinstance(p, list) and w in p) for w, p in zip(words, pattern)):
                found.append(verdict)
        return strictest(found) if found else "none"

    def calls(self, rng):
        for _ in range(60):
            words = some_command(rng)
            if rng.random() < 0.7:
                _, pattern = rng.choice(self.rules)
                words = [rng.choice(p) if isinstance(p, list) else p for p in pattern]
                words += [rng.choice(rng.words) for _ in range(rng.randint(0, 2))]
            yield {"tool": "Bash", "words": words}, self.verdict(words)


# ---- Gemini CLI ----

class Gemini:
    name = "gemini"
    names = {"allow": "allow", "ask": "ask_user", "deny": "deny"}
    tools = ["read_file", "write_file", "replace", "glob", "web_fetch", "mcp_s_t", "grep_search"]

    def __init__(self, rng):
        self.rules = []
        for _ in range(rng.randint(1, 7)):
            rule = {"decision": rng.choice(["allow", "allow", "ask", "deny"]),
                    "priority": rng.choice([1, 50, 100, 999]), "toolName": "run_shell_command"}
            kind = rng.randint(0, 9)
            if kind < 5:
                prefix = [" ".join(some_command(rng)[:2]) for _ in range(rng.randint(1, 2))]
                rule["commandPrefix"] = prefix if len(prefix) > 1 else prefix[0]
            elif kind == 5:
                rule["commandRegex"] = rng.choice(
                    ["git .*", "git push", "npm run .*unit", "rm -rf.*", "ls", "(git|npm) push",
                     "git (push|status)", "[a-z]+ x", "docker"])
            elif kind == 6:
                rule["toolName"] = rng.choice(self.tools)
            elif kind == 7:
                rule["toolName"] = "*"
            elif kind == 8:
                rule["modes"] = rng.choice([["plan"], ["yolo"], ["default", "autoEdit", "yolo"]])
            self.rules.append(rule)

    def text(self):
        out = ""
        for rule in self.rules:
            out += "[[rule]]\n"
            for key, value in rule.items():
                if key == "decision":
                    value = self.names[value]
                out += "%s = %s\n" % (key, json.dumps(value))
        return out

    @staticmethod
    def matches(rule, tool, command, mode):
        if rule["toolName"] not in ("*", tool) or mode not in rule.get("modes", [mode]):
            return False
        prefixes = rule.get("commandPrefix", [])
        prefixes = [prefixes] if isinstance(prefixes, str) else prefixes
        arguments = json.dumps({"command": command}, separators=(",", ":"))
        if prefixes:
            return any(re.search(re.escape('"command":' + json.dumps(p)[:-1]) + r'(?:[\s"]|\\")',
                                 arguments) for p in prefixes)
        if "commandRegex" in rule:
            return bool(re.search('"command":"' + rule["commandRegex"], arguments))
        return True

    def verdict(self, tool, command, mode):
        for rule in sorted(self.rules, key=lambda r: -r["priority"]):
            if self.matches(rule, tool, command, mode):
                return rule["decision"]
        return "ask"

    def calls(self, rng):
        prefixes = []
        for rule in self.rules:
            prefix = rule.get("commandPrefix", [])
            prefixes += [prefix + " *"] if isinstance(prefix, str) else [p + " *" for p in prefix]
        for _ in range(40):
            words = command_like(rng, prefixes)
            mode = rng.choice(["default", "autoEdit", "yolo"])
            yield {"tool": "run_shell_command", "words": words}, spelled(
                words, lambda text, m=mode: self.verdict("run_shell_command", text, m))
        for tool in self.tools:
            yield {"tool": tool}, self.verdict(tool, "", "default")


class GeminiSettings(Gemini):
    """Lists of tools, as the rules that Gemini CLI makes of them."""

    def __init__(self, rng):
        def names(n):
            return [rng.choice(self.tools) if rng.random() < 0.4 else
                    "run_shell_command(%s)" % " ".join(some_command(rng)[:2])
                    for _ in range(rng.randint(0, n))]
        self.settings = {"exclude": [n for n in names(2) if "(" not in n],
                         "allowed": names(3)}
        if rng.random() < 0.4:
            self.settings["core"] = names(4) + rng.choice([[], ["run_shell_command"]])
        if rng.random() < 0.3:
            self.settings["confirmationRequired"] = [rng.choice(self.tools)]
        self.rules = []
        self.add("exclude", "deny", 440)
        self.add("confirmationRequired", "ask", 435)
        self.add("allowed", "allow", 430)
        self.add("core", "allow", 425)
        if any("(" in n for n in self.settings["allowed"]):
            self.rules.append({"toolName": "run_shell_command", "decision": "deny", "priority": 429})
        if "core" in self.settings:
            self.rules.append({"toolName": "*", "decision": "deny", "priority": 424})

    def add(self, key, verdict, priority):
        for name in self.settings.get(key, []):
            tool, _, prefix = name.partition("(")
            rule = {"toolName": tool, "decision": verdict, "priority": priority}
            if prefix:
                rule["commandPrefix"] = prefix[:-1]
            self.rules.append(rule)

    def text(self):
        return "// lists\n" + json.dumps({"tools": self.settings})


# ---- OpenCode ----

class OpenCode:
    name = "opencode"
    tools = ["task", "todowrite", "websearch", "glob", "list", "s_get", "question", "lsp"]
    movers = {"cd", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"}

    def __init__(self, rng):
        self.rules = []
        permission = {}

        def verdict():
            return rng.choice(["allow", "allow", "ask", "deny"])
        keys = ["*", "bash", "read", "edit", "external_directory", "s_*", "web*"] + self.tools
        for key in rng.sample(keys, rng.randint(1, 6)) + ["bash"]:
            if key in permission:
                continue
            if key in ("bash", "read", "edit") and rng.random() < 0.8:
                some = some_glob if key == "bash" else some_path_glob
                patterns = {}
                if rng.random() < 0.5:
                    patterns["*"] = verdict()
                for _ in range(rng.randint(1, 5)):
                    pattern = some(rng, True) if key == "bash" else some(rng)
                    patterns[pattern] = verdict()
                permission[key] = patterns
            else:
                permission[key] = verdict()
        self.permission = permission
        for key, value in permission.items():
            for pattern, action in (value if isinstance(value, dict) else {"*": value}).items():
                if re.match(r"(~|\$HOME)(/|$)", pattern):
                    pattern = re.sub(r"^(~|\$HOME)", "/home/u", pattern)
                self.rules.append((key, pattern, action))

    def text(self):
        return "{\n  // rules\n  \"permission\": " + json.dumps(self.permission, indent=2) + ",\n}\n"

    @staticmethod
    def wildcard(text, pattern):
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        if expression.endswith(r"\ .*"):
            expression = expression[:-4] + "( .*)?"
        return bool(re.fullmatch(expression, text, re.S))

    def evaluate(self, permission, pattern, default="ask"):
        for key, p, action in reversed(self.rules):
            if self.wildcard(permission, key) and self.wildcard(pattern, p):
                return action
        return default

    def outside(self, path):
        if path == "/w" or path.startswith("/w/"):
            return "allow"
        return self.evaluate("external_directory", os.path.dirname(path) + "/*")

    def command(self, words, text):
        verdict = self.evaluate("bash", text)
        if words[0] in self.movers:
            for word in words[1:]:
                if not word.startswith("-"):
                    where = os.path.normpath(os.path.join("/w", word))
                    verdict = strictest([verdict, self.outside(where)])
        return verdict

    def calls(self, rng):
        commands = [p for k, p, _ in self.rules if k == "bash"]
        paths = [p for k, p, _ in self.rules if k in ("read", "edit")]
        for _ in range(40):
            words = command_like(rng, commands)
            if words[0] == "cd":
                continue
            yield {"tool": "bash", "words": words}, spelled(
                words, lambda text, w=words: self.command(w, text))
        for _ in range(40):
            path = path_like(rng, paths)
            for key in ("read", "edit"):
                verdict = self.evaluate(key, os.path.relpath(path, "/w"))
                yield {"tool": key, "path": path}, strictest([verdict, self.outside(path)])
        for tool in self.tools:
            if tool not in ("glob", "list"):
                yield {"tool": tool}, self.evaluate(tool, "x")


SOURCES = [Claude, Codex, Gemini, GeminiSettings, OpenCode]
