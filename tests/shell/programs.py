#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
Random programs for sed and awk, put together of what is easily misread: those that count as
reading run, by each sed and awk that is here, in an empty folder, and no file may be there
afterwards.

    programs.py [NUMBER [SEED]]    (default: 2500 programs)
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from typing import List, Tuple

TRAITS = os.environ.get("TRAITS", "tests/shell/traits")
SEDS = [["sed"], ["sed", "-E"], ["sed", "--posix"], ["busybox", "sed"]]
AWKS = [["mawk"], ["gawk"], ["original-awk"], ["busybox", "awk"]]
AWK = ['"', "/", "#", "\n", " ", 'print 1>"X"', "print 1>5", 'print 1|"cat>X"',
       "print 1 \\\n>5", "print 1,\n2>5", ";", "{", "}", "(", ")", "[", "]", "\\", '/"/',
       "/[/]/", '"/"', "a", "1", "$1", "=", "~", "!", "x=1", "/#/", "a/b", '"a\\"b"',
       "/a\\/b/", "if(1)", "a++", "BEGIN", "END", 'printf "x">5', "1>5", "&&", "||", ",", "+",
       "-", "?", ":", "function f(x){", "return /x/", "print(1)>5", 'print/"/>5', '$1/"', "in",
       "%", "^", "<", ">", '"\\\\"', '/\\"/', '/[^"]/', "/]/", "/[]/]/", "/[^]/]/", "0x1",
       "1e5", ".5"]
SED = ["s/a/b/", "w X", ";", "\n", " ", "}", "{", "1", "/a/", "$", "!", ":a", "ba", "ta", "b",
       "a", "i", "c", "\\", "a\\\n", "i foo", "e echo>X", "s/a/echo>X/e", "s/a/b/w X",
       "y/a/b/", "#", "p", "n", "N", "D", "l", "q", "/[/]/", "\\,a,", ",", "1,2", "s,a,b,",
       "s|a|b|", "s/[/]/x/", "g", "I", "M", "-", "s/a\\/b/c/", "T", "r X", "=", "z",
       "s/a/b/;", "~2", "+1", "b a", "t a", "s/[]/]/x/", "s/[^]/]/x/"]


def program(rng: random.Random) -> Tuple[str, str]:
    name = rng.choice(["awk", "sed"])
    parts = AWK if name == "awk" else SED
    text = "".join(rng.choice(parts) for _ in range(rng.randint(1, 7)))
    if name == "awk" and rng.random() < 0.6:
        text = "{" + text + "}"
    if name == "awk" and rng.random() < 0.3:
        text += ' {print 1>"X"}'
    if name == "sed" and rng.random() < 0.3:
        text += rng.choice([";w X", "\nw X", " w X", "}w X"])
    return name, text


def quoted(text: str) -> str:
    return "$'" + text.replace("\\", "\\\\").replace("\n", "\\n") + "'"


def reading(programs: List[Tuple[str, str]]) -> List[Tuple[str, str]]:
    lines = "".join(f"{name} {quoted(text)} f\n" for name, text in programs)
    told = subprocess.run([TRAITS], input=lines, stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout.splitlines()
    assert len(told) == len(programs)
    return [p for p, line in zip(programs, told) if line.split("\t")[0] == "reads"]


def main() -> int:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    programs = reading([program(rng) for _ in range(number)])
    runners = {"sed": [p for p in SEDS if shutil.which(p[0])],
               "awk": [p for p in AWKS if shutil.which(p[0])]}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs:
            for runner in runners[name]:
                with open(os.path.join(folder, "f"), "w", encoding="utf-8") as file:
                    file.write("a\nab\n")
                try:
                    subprocess.run(runner + [text, "f"], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   timeout=1, check=False)
                except subprocess.TimeoutExpired:
                    pass  # a loop writes nothing either
                made = [left for left in os.listdir(folder) if left != "f"]
                if made:
                    print(f"{' '.join(runner)} {text!r}: counts as reading, and wrote")
                    wrong += 1
                for left in made:
                    os.unlink(os.path.join(folder, left))
    print(f"{len(programs)} of {number} programs count as reading; "
          f"{sum(map(len, runners.values()))} seds and awks; {wrong} wrote")
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
