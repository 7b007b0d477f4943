#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""approvalctl rules import: kept samples, and random rules against each source's own meaning.

    test_import.py [--update] [--seed N] [--rounds N]

For the samples, tests/ctl/import/NAME.AGENT.* gives what stands in NAME.expect. For random
rules: what the source asks for is not allowed, and what it denies is denied or asked for.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import import_oracle  # noqa: E402
import import_target  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("APPROVALCTL", "./approvalctl"))
SAMPLES = os.path.join(HERE, "import")


def run(agent, path, *options, text=None):
    p = subprocess.run([PROGRAM, "rules", "import", "--from", agent, *options, path],
                       input=text, capture_output=True, encoding="utf-8", check=False,
                       env={**os.environ, "LC_ALL": "C"})
    return p.returncode, p.stdout, p.stderr


# ---- samples ----

def sample(name):
    agent = name.split(".")[1]
    with open(os.path.join(SAMPLES, name), encoding="utf-8") as f:
        code, out, err = run(agent, "-", text=f.read())
    return "exit %d\n\n%s\n%s" % (code, out, err)


def samples(update):
    wrong = 0
    for name in sorted(os.listdir(SAMPLES)):
        if name.endswith(".expect"):
            continue
        got, path = sample(name), os.path.join(SAMPLES, name + ".expect")
        if update:
            with open(path, "w", encoding="utf-8") as f:
                f.write(got)
            continue
        with open(path, encoding="utf-8") as f:
            want = f.read()
        if got != want:
            wrong += 1
            print("%s: got\n%s\ninstead of\n%s" % (name, got, want))
    return wrong


# ---- random rules ----

def breach(source, mildest, ours):
    """Why this must not be; None: it may."""
    if mildest in ("ask", "deny") and ours == "allow":
        return "allowed"
    if source == "deny" and ours not in ("ask", "deny"):
        return "not even asked for"
    return None


class Broker:
    """The rules themselves, by approvalctl explain: all calls at once, at the end."""

    def __init__(self):
        self.lines, self.asked = [], []

    def ask(self, name, texts, call, verdict, mildest):
        given = {}
        if "words" in call:
            given["command"] = import_oracle.raw(call["words"])
        elif "path" in call:
            given["filePath" if call["tool"] in ("read", "edit") else "file_path"] = call["path"]
        elif "host" in call:
            given["url"] = "https://%s/x" % call["host"]
        # in yolo, so that only rules and floor count
        self.lines.append(json.dumps(
            {"rules": texts, "mode": "yolo", "tool": call["tool"], "input": given, "cwd": "/w",
             "workspace": "/w", "home": "/home/u"}) + "\n")
        self.asked.append((name, texts, call, verdict, mildest))

    def finish(self):
        p = subprocess.run([PROGRAM, "explain", "--offline", "--stdin"], input="".join(self.lines),
                           capture_output=True, encoding="utf-8", check=False)
        answers = [json.loads(line) for line in p.stdout.splitlines()]
        wrong = check("explain: %s" % p.stderr, len(answers) == len(self.lines))
        for answer, (name, texts, call, verdict, mildest) in zip(answers, self.asked):
            ours = answer["verdict"]
            if ours == "allow" and answer["source"] != "rule":
                ours = "none"
            why = "a rule does not load" if ours == "error" else breach(verdict, mildest, ours)
            if why:
                wrong += 1
                print("%s: %r is %s by the source, but the broker says %r (%s), by\n%s" % (
                    name, call, verdict, answer, why, "\n".join(texts)))
        print("explain: %d calls" % len(answers))
        return wrong


def one_list(kind, rng, counts, broker):
    source = kind(rng)
    text = source.text()
    code, out, err = run(source.name, "-", "--json", text=text)
    if code not in (0, 1):
        return "exit %d\n%s\n%s" % (code, text, err)
    items = [json.loads(line) for line in out.splitlines()]
    texts = [i["text"] for i in items if i["type"] == "rule"]
    rules = import_target.Rules(texts)
    for item in items:
        if not (1 <= item["line"] <= text.count("\n") + 1):
            return "no place: %r" % item
    for call, verdict in source.calls(rng):
        verdict, mildest = (verdict, verdict) if isinstance(verdict, str) else verdict
        ours = rules.verdict(**call)
        counts[verdict, ours] = counts.get((verdict, ours), 0) + 1
        why = breach(verdict, mildest, ours)
        broker.ask(source.name, texts, call, verdict, mildest)
        if why:
            return "%s: %r is %s by the source, but %s, by\n%s\nmade of\n%s\n%s" % (
                source.name, call, verdict, why, "\n".join(map(str, rules.rules)), text, out)
    return None


def random_rules(seed, rounds):
    wrong = 0
    broker = Broker()
    for kind in import_oracle.SOURCES:
        counts = {}
        for number in range(rounds):
            rng = import_oracle.Choice("%s %s %s" % (kind.__name__, seed, number))
            why = one_list(kind, rng, counts, broker)
            if why:
                print("round %d of seed %s: %s" % (number, seed, why))
                wrong += 1
        calls = sum(counts.values())
        kept = counts.get(("allow", "allow"), 0)
        allowed = sum(n for (verdict, _), n in counts.items() if verdict == "allow")
        print("%s: %d lists, %d calls; of %d that the source allows ours allow %d" % (
            kind.__name__, rounds, calls, allowed, kept))
        # a compiler that refused everything would be right, but of no use
        if kept * 10 < allowed:
            print("%s: too little is left of what was allowed" % kind.__name__)
            wrong += 1
    wrong += broker.finish()
    return wrong


# ---- files ----

def check(name, good):
    if not good:
        print("wrong: %s" % name)
    return 0 if good else 1


def files():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "settings.json")
        out = os.path.join(folder, "rules")
        with open(path, "w", encoding="utf-8") as f:
            f.write('{"permissions": {"allow": ["Bash(ls *)"]}}')
        code, text, err = run("claude", path, "--output", out)
        wrong += check("written", (code, text, err) == (0, "", ""))
        with open(out, encoding="utf-8") as f:
            content = f.read()
        wrong += check("content", content.endswith(
            "# from %s:1 permissions.allow[0]\nallow Bash(ls *)\n" % path))
        wrong += check("mode", os.stat(out).st_mode & 0o777 == 0o600)
        code, text, err = run("claude", path, "--output", out)
        wrong += check("not twice", code == 73 and "--force" in err)
        wrong += check("forced", run("claude", path, "--output", out, "--force")[0] == 0)
        wrong += check("nothing beside it", sorted(os.listdir(folder)) == ["rules", "settings.json"])
        wrong += check("no folder", run("claude", path, "--output", folder + "/a/b")[0] == 73)
        wrong += check("no file", run("claude", folder + "/none")[0] == 66)
        wrong += check("a folder", run("claude", folder)[0] == 66)
        wrong += check("no JSON", run("claude", "-", text="{")[0] == 65)
        wrong += check("too large", run("claude", "-", text=" " * (1 << 20) + "{}")[0] == 65)
        wrong += check("no agent", run("emacs", path)[0] == 2)
        wrong += check("no operand", subprocess.run(
            [PROGRAM, "rules", "import", "--from", "claude"], capture_output=True,
            check=False).returncode == 2)
        hostile = os.path.join(folder, "a\nallow Bash\x1b[2J")
        os.rename(path, hostile)
        code, text, err = run("claude", hostile)
        wrong += check("name of the file", "\x1b" not in text and text.count("\n") == 3)
        code, text, err = run("claude", "-", text='{"permissions": {"allow": [\n "Bash(\\u001b[2J)", '
                                                  '"B\\u202eash(x)"]}}')
        wrong += check("hostile text", code == 1 and "\x1b" not in text + err and
                       "\u202e" not in text + err and "-:2:2: refused" in err)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    wrong = samples(options.update) + files() + random_rules(options.seed, options.rounds)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
