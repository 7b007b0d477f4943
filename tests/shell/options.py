#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
The tables of reading commands against the programs that are here: each option that their
--help tells, as it is told, is one that does not count as reading, or one of which the tables
know whether it has a value. One whose description says that it writes, runs, or reads by a
list is no reading, and none is read by its beginning. What the table of wrappers says of a
value is so. A command that isn't installed is left out, and said.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple

SRC = os.environ.get("srcdir", ".")
TRAITS = os.environ.get("TRAITS", "tests/shell/traits")
VALUE = "zzzz"
# what is not asked for its options: words of the shell, what reads whatever they are, and what
# is looked at by its own code and has no list of options in its help
WITHOUT = {"[", "arch", "cd", "command", "echo", "expr", "false", "printf", "sleep", "test",
           "true", "type", "uname", "which", "whoami", "find", "awk", "gawk", "mawk", "nawk",
           "ps", "hostname", "builtin", "exec", "busybox"}
DANGER = re.compile(
    r"\b(writ(e|es|ing)|execut\w*|runs?|program|script|pager|downloads?|DNS|network|socket|"
    r"output (to )?(file|FILE)|in.place|files?0|decompress\w*|compress\w*|follow\w*|"
    r"dereferenc\w*|(obtain|read|take|get)\w* .*\bfrom\b|name-servers?|verif\w*|"
    r"check .* sums?|gpg)\b")
# looked at one by one: the description sounds like more than the option does
GREP = {"-f", "--file"}  # the file is looked at, as an operand is
HARMLESS: Dict[str, Set[str]] = {
    "date": GREP,
    "diff": {"-e", "--ed", "--no-dereference"},  # prints
    "file": {"-h", "-L", "--dereference", "--no-dereference"},  # of operands, as cat
    "stat": {"-L", "--dereference"},
    "du": {"-a", "--all", "-P", "--no-dereference"},
    "egrep": GREP, "fgrep": GREP, "grep": GREP,
    "git describe": {"--first-parent"},
    "git diff": {"--quiet", "--relative"},
    "git grep": {"-f"},
    "git ls-files": {"-X", "--exclude-from"},  # as grep -f
    "git show-ref": {"-d", "--dereference", "-q", "--quiet"},
    "ls": {"--show-control-chars"},
    # what is printed is a name
    "readlink": {"-e", "-f", "-m", "--canonicalize", "--canonicalize-existing",
                 "--canonicalize-missing"},
    "rg": {"-0", "--null", "-p", "--pretty", "--stats", "-f", "--file", "--ignore-file"},
    # the script is looked at
    "sed": {"--debug", "-e", "--expression", "-E", "-r", "--regexp-extended"},
    "sort": {"--parallel", "-u", "--unique"},
    "tail": {"--max-unchanged-stats", "-F"},
}
# the help does not tell whether there is a value
VALUES: Dict[str, Set[str]] = {
    "ls": {"-p"}, "sort": {"-c", "-C", "--check"}, "stat": {"-c"},
    "strace": {"-q", "-x", "-Y"}, "xargs": {"--max-lines"},
    "strings": {"-a", "-w", "--include-all-whitespace"}, "git diff": {"--name-status"},
    "git diff-tree": {"--name-status"}}
# options of which the help tells longer ones alone
WHOLE: Dict[str, Set[str]] = {
    "git diff-tree": {"--find-copies", "--patch"}, "git rev-list": {"--date"},
    "git diff": {"--find-copies", "--patch"}, "jq": {"--slurp"}}


class Option(NamedTuple):
    name: str
    value: str  # "", "=", "?" or "*": not told
    about: str


def help_of(words: List[str]) -> str:
    flag = "-h" if words[0] == "git" else "--help"
    done = subprocess.run(words + [flag], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=10, check=False, cwd="/",
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent"})
    return done.stdout.decode("utf-8", "replace")


def options_of(text: str, git: bool) -> List[Option]:
    """Lines that begin with an option: `-w, --width=COLS  …`, `--color[=WHEN]`, `-c <n>`."""
    found: List[Option] = []
    lines = text.expandtabs().splitlines()
    for at, line in enumerate(lines):
        if not re.match(r"\s{1,10}-[^\s-]|\s{1,10}--[a-z\[]", line):
            continue
        body = line.strip()
        heads, _, about = body.partition("  ")
        for more in lines[at + 1:]:  # the description goes on
            if not more.strip() or re.match(r"\s+-", more):
                break
            about += " " + more.strip()
        parts = [p.strip() for p in re.split(r",\s+|\s+\|\s+|\s+(?=--[a-z])", heads)]
        heads_found: List[Tuple[str, str]] = []
        for part in parts:
            match = re.match(r"(--?(?:\[no-\])?[A-Za-z0-9#?][\w-]*|-.)(.*)$", part)
            if not match or not part.startswith("-"):
                continue
            name, rest = match.groups()
            if not name.startswith("--") and len(name) > 2:
                name, rest = name[:2], name[2:] + rest
            value = "" if not rest.strip() else "?" if rest.startswith("[") else "="
            if git and rest.startswith("=<"):
                value = "*"  # where it says so both are
            name = name.replace("[no-]", "")
            heads_found.append((name, value))
        # what the last says holds for all: `-w, --width=COLS`, but `-f, --follow[=HOW]`
        last = heads_found[-1][1] if heads_found else ""
        for name, value in heads_found:
            if not value and (last == "=" or name.startswith("--")):
                value = last
            found.append(Option(name, value, about))
    # --time and --time=WORD
    values: Dict[str, Set[str]] = {}
    for option in found:
        values.setdefault(option.name, set()).add(option.value)
    return [option if len(values[option.name]) == 1 else option._replace(value="?")
            for option in found]


def reading_commands() -> List[List[str]]:
    with open(os.path.join(SRC, "broker/core/shell/readonly.c"), encoding="utf-8") as file:
        names = re.findall(r'^\t\{"([^"]+)",', file.read(), re.M)
    with open(os.path.join(SRC, "broker/core/shell/git.c"), encoding="utf-8") as file:
        subs = re.findall(r'^\t\{"([^"]+)",', file.read(), re.M)
    return [[name] for name in names if name not in WITHOUT and name != "git"] + \
        [["git", sub] for sub in subs + ["branch", "remote", "config"]]


def ask(lines: List[str]) -> List[List[str]]:
    done = subprocess.run([TRAITS], input="".join(line + "\n" for line in lines), check=True,
                          stdout=subprocess.PIPE, timeout=60, text=True)
    answers = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def has_value(answer: List[str], value: str) -> bool:
    return any(arg.startswith("-") and arg.endswith("=" + value) for arg in answer[1:])


def check(words: List[str]) -> List[str]:
    command = " ".join(words)
    options = options_of(help_of(words), words[0] == "git")
    names = {option.name for option in options}
    names |= WHOLE.get(command, set())
    harmless = HARMLESS.get(command, set())
    untold = VALUES.get(command, set())
    wrong: List[str] = []
    tests: List[Tuple[str, Option, str]] = []
    for option in options:
        tests.append((f"{command} {option.name} {VALUE}", option, "apart"))
        if option.name.startswith("--"):
            for n in range(3, len(option.name)):
                if option.name[:n] not in names:
                    tests.append((f"{command} {option.name[:n]}", option, "short"))
        elif option.value:
            tests.append((f"{command} {option.name}{VALUE}", option, "joined"))
        tests.append((f"{command} {option.name}", option, "alone"))
    for (line, option, how), answer in zip(tests, ask([test[0] for test in tests])):
        if answer[0] != "reads":
            continue
        if how == "short":
            wrong.append(f"{line}: reads, by the beginning of {option.name}")
        elif how == "alone":
            if DANGER.search(option.about) and option.name not in harmless:
                wrong.append(f"{line}: reads, though it is said to: {option.about.strip()}")
        elif option.name in untold or option.value == "*":
            continue
        elif how == "joined" and not has_value(answer, VALUE):
            wrong.append(f"{line}: {answer[1:]}, though it has a value")
        elif how == "apart" and has_value(answer, VALUE) != (option.value == "="):
            wrong.append(f"{line}: {answer[1:]}, though its value is '{option.value}'")
    return wrong


def wrappers() -> Iterator[Tuple[str, str, str, Dict[str, str]]]:
    """Name, short options with a value and without, long ones by the sign behind each."""
    with open(os.path.join(SRC, "broker/core/shell/wrapper_table.c"), encoding="utf-8") as file:
        text = file.read()
    for row in re.finditer(r'\{"([^"]+)", KIND_(?:WORDS|OPTION|JOINED), [^,]*, \d, "([^"]*)",'
                           r'\s*"([^"]*)",((?:\s*"[^"]*")+)\}', text):
        longs = "".join(re.findall(r'"([^"]*)"', row.group(4))).split()
        yield row.group(1), row.group(2), row.group(3), {
            name.rstrip("=?"): name[len(name.rstrip("=?")):] for name in longs}


def check_wrapper(name: str, valued: str, plain: str, longs: Dict[str, str]) -> List[str]:
    wrong: List[str] = []
    for option in options_of(help_of([name]), False):
        told = f"{name} {option.name}: the help says '{option.value}', which the table does not"
        text = option.name.lstrip("-")
        if option.name in VALUES.get(name, set()):
            continue
        if option.name.startswith("--"):
            # with what is not in the table nothing is read; a value may be left out of it
            if text in longs and (longs[text] == "=") != (option.value == "="):
                wrong.append(told)
        elif (text in valued and option.value != "=") or (text in plain and option.value == "="):
            wrong.append(told)
    return wrong


def main() -> int:
    missing: List[str] = []
    count = 0
    wrong: List[str] = []
    for words in reading_commands():
        if not shutil.which(words[0]):
            missing.append(words[0])
            continue
        count += 1
        wrong += check(words)
    for name, valued, plain, longs in wrappers():
        if name in WITHOUT or not shutil.which(name):
            missing += [name] * (name not in WITHOUT)
            continue
        count += 1
        wrong += check_wrapper(name, valued, plain, longs)
    print(f"{count} commands; not here: {' '.join(missing) or 'none'}")
    for line in sorted(set(wrong)):
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
