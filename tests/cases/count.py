#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The cases are as many, and of the kinds, that there have to be; each is well formed and once."""

from __future__ import annotations

import collections
import hashlib
import json
import os
import sys
from typing import Any, Dict, List, Set

HANDED = "verdicts.jsonl"  # given from outside: it is not for us to change
HANDED_SHA256 = "0a04bd0758fe408da72a3bd9750c8a028b10b9793b0e0943753c6db55aab803a"
FILES = (HANDED, "floor.jsonl", "bypass.jsonl", "own.jsonl", "links.jsonl")
KEYS = {"name", "rules", "mode", "tool", "cwd", "workspace", "home", "input", "expect"}
MORE = {"source", "floor", "kind", "links"}
BYPASSES = {  # how allow-lists of agents were led by the nose, and how many cases of each
    "substitution": 30, "data that is run": 30, "separators in a word": 15, "quoting": 20,
    "line continuations": 15, "operators": 40, "here-documents": 25, "redirections": 40,
    "options that run code": 150, "environment": 50, "wrappers": 40,
    "command by another name": 30, "case": 20, "look-alikes": 25, "symlinks": 30,
    "code from a decoder or the network": 30}


def load(name: str) -> List[Dict[str, Any]]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, "rb") as file:
        data = file.read()
    if name == HANDED and hashlib.sha256(data).hexdigest() != HANDED_SHA256:
        sys.exit(f"{name} is not as it was handed over")
    return [json.loads(line) for line in data.decode().splitlines() if line.strip()]


def check(name: str, cases: List[Dict[str, Any]], seen: Set[str]) -> List[str]:
    wrong = []
    for case in cases:
        call = json.dumps([case.get(key) for key in
                           ("rules", "mode", "tool", "input", "cwd", "workspace", "home", "links")])
        if not KEYS <= set(case) <= KEYS | MORE:
            wrong.append(f"{name}: members of {case.get('name')}")
        elif not set(case["expect"]) <= {"allow", "deny", "ask", "error"} or not case["expect"]:
            wrong.append(f"{name}: what is expected of {case['name']}")
        elif call in seen and name != "floor.jsonl":
            wrong.append(f"{name}: {case['name']} is there twice")
        seen.add(call)
    return wrong


def main() -> int:
    seen: Set[str] = set()
    wrong: List[str] = []
    cases: List[Dict[str, Any]] = []
    for name in FILES:
        some = load(name)
        wrong += check(name, some, seen)
        cases += some
    kinds = collections.Counter(case["kind"] for case in cases if "kind" in case)
    tightens = [case for case in cases
                if any(rule.startswith(("deny", "ask")) for rule in case["rules"])]
    counts = {
        "in all": (len(cases), 400),
        "that must not ask in yolo":
            (sum(c["mode"] == "yolo" and c["expect"] == ["allow"] for c in cases), 100),
        "that must not be denied though a rule denies or asks":
            (sum(c["expect"] == ["allow"] for c in tightens), 100),
        "that the floor must leave alone":
            (sum(c["expect"] == ["allow"] and c.get("source") in ("mode", "rule")
                 for c in cases), 100),
        **{f"of the kind '{kind}'": (kinds[kind], least) for kind, least in BYPASSES.items()}}
    for what, (number, least) in counts.items():
        print(f"{number:5} cases {what} (at least {least})")
        if number < least:
            wrong.append(f"too few cases {what}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
