# SPDX-License-Identifier: MIT
"""approvalctl explain --offline over the handed cases: CTL names the program, CASES the files."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import unittest
from typing import Any, Dict, Iterable, List

CTL = os.environ["CTL"]
KEYS = {"verdict", "source", "rule", "step", "floor", "about", "what", "message", "path"}


def explain(lines: Iterable[str]) -> List[Dict[str, Any]]:
    done = subprocess.run([CTL, "explain", "--offline", "--stdin"], check=True, timeout=120,
                          input="".join(line + "\n" for line in lines),
                          stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sanitized() -> bool:
    """The program beside libtool's script holds the sanitizer's runtime, which takes memory."""
    name = os.path.join(os.path.dirname(CTL), ".libs", os.path.basename(CTL))
    with open(name if os.path.exists(name) else CTL, "rb") as file:
        return b"__asan_init" in file.read()


def call(command: str, *rules: str, **more: Any) -> str:
    return json.dumps({"rules": rules, "tool": "Bash", "input": {"command": command},
                       "cwd": "/w/p", "workspace": "/w/p", "home": "/home/u", **more})


class ExplainTest(unittest.TestCase):
    def test_cases(self) -> None:
        for name in os.environ["CASES"].split(":"):
            with open(name, encoding="utf-8") as file:
                lines = [line.rstrip("\n") for line in file if line.strip()]
            self.assertGreater(len(lines), 100)
            answers = explain(lines)
            self.assertEqual(len(answers), len(lines))
            for line, answer in zip(lines, answers):
                case = json.loads(line)
                self.assertEqual(set(answer), KEYS)
                self.assertIn(answer["verdict"], case["expect"], f"{case} {answer}")
                if "source" in case:
                    self.assertEqual(answer["source"], case["source"], f"{case} {answer}")

    def test_says_why(self) -> None:
        floor, rule, nothing, denied = explain([
            call("cat .env", "allow Bash", mode="yolo"),
            call("make -j4", "allow Bash(make:*)"),
            call("make"),
            call("git push", "deny Bash(git push:*)", mode="yolo")])
        self.assertEqual((floor["verdict"], floor["step"], floor["floor"], floor["what"]),
                         ("ask", "floor", "env", "/w/p/.env"))
        self.assertTrue(floor["about"])
        self.assertEqual([s["step"] for s in floor["path"]],
                         ["suspended", "plan", "deny-rules", "repeat", "floor"])
        self.assertEqual([s["answer"] for s in floor["path"]],
                         ["pass", "pass", "pass", "pass", "ask"])
        self.assertEqual((rule["verdict"], rule["rule"]), ("allow", "allow Bash(make:*)"))
        self.assertEqual((nothing["verdict"], nothing["source"], nothing["step"]),
                         ("ask", None, "human"))
        self.assertEqual((denied["verdict"], denied["source"]), ("deny", "rule"))
        self.assertIn("Do not", denied["message"])

    def test_wrong_lines(self) -> None:
        answers = explain([
            "no json", "[]", '"text"', call("ls", cwd="relative"), call("ls", mode="frob"),
            call("ls", "allow Bash(ls", "nonsense"), json.dumps({"rules": 5}),
            json.dumps({"rules": "allow Bash(x)\nbad line", "tool": "Bash"}),
            '{"tool": "\\u0000", "input": {"command": 7}}', "{}", call("make")])
        self.assertEqual([a["verdict"] for a in answers], ["error"] * 8 + ["ask"] * 3)
        self.assertIn("rule 1, column", answers[5]["message"])
        self.assertIn("rule 2, column", answers[7]["message"])

    def test_each_line_at_once(self) -> None:
        """As a co-process: the answer comes before the next line is written."""
        with subprocess.Popen([CTL, "explain", "--offline", "--stdin"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin and process.stdout
            for line in (call("cat .env"), "no json", call("make")):
                process.stdin.write(line + "\n")
                process.stdin.flush()
                ready, _, _ = select.select([process.stdout], [], [], 60)
                self.assertTrue(ready, line)
                self.assertIn("verdict", json.loads(process.stdout.readline()))
            process.stdin.close()
            self.assertEqual(process.wait(60), 0)

    def test_usage(self) -> None:
        for args in ([], ["--offline"], ["--stdin"], ["--offline", "--stdin", "more"]):
            done = subprocess.run([CTL, "explain", *args], check=False, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--help", done.stderr)

    def test_constant_memory(self) -> None:
        lines = [call(f"grep x{i} a b c | sort > out{i % 7}", "allow Bash(grep:*)")
                 for i in range(30000)]
        with subprocess.Popen([CTL, "explain", "--offline", "--stdin"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stdin
            process.stdin.write("".join(line + "\n" for line in lines[:1000]))
            process.stdin.flush()
            process.stdin.write("".join(line + "\n" for line in lines))
            process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
        self.assertEqual(status, 0)
        if not sanitized():
            self.assertLess(usage.ru_maxrss, 40 * 1024)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
