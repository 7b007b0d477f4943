# SPDX-License-Identifier: MIT
"""approval-hook install, uninstall and doctor on files: HOOK names the program."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import unittest
from typing import Any, Dict, Tuple

from hookkit import FakeBroker, Place, decision

DECIDING = ("PreToolUse", "PermissionRequest")
EVENTS = DECIDING + ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop",
                     "SessionStart", "SessionEnd")  # fmt: skip
OTHERS = """{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "big": 123456789012345678901234567890, "small": -0.0, "exp": 1e400,
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "~/mine.sh \\"$X\\"", "timeout": 5}]
            }
        ],
        "Notification": [{"hooks": [{"type": "command", "command": "notify-send \\u00e9"}]}]
    },
    "z": null,
    "a": true
}
"""


class SettingsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.place = Place()
        self.file = os.path.join(self.place.folder, ".claude", "settings.json")
        self.program = os.path.join(self.place.folder, "approval-hook")
        with open(self.program, "w") as f:
            f.write('#!/bin/sh\nexec "%s" "$@"\n' % os.environ["HOOK"])
        os.chmod(self.program, 0o755)
        os.environ.pop("CLAUDE_CONFIG_DIR", None)

    def tearDown(self) -> None:
        self.place.remove()

    def run_it(self, *args: str, env: Dict[str, str] = {}) -> Tuple[int, str, str]:
        p = subprocess.run([os.environ["HOOK"], *args], capture_output=True, text=True, timeout=120,
                           env={**os.environ, **self.place.env, **env})  # fmt: skip
        return p.returncode, p.stdout, p.stderr

    def install(self, *args: str) -> Tuple[int, str, str]:
        return self.run_it("install", "claude", "--command", self.program, *args)

    def put(self, text: str, mode: int = 0o644) -> None:
        os.makedirs(os.path.dirname(self.file), exist_ok=True)
        with open(self.file, "w") as f:
            f.write(text)
        os.chmod(self.file, mode)

    def get(self, path: str = "") -> str:
        with open(path or self.file) as f:
            return f.read()

    def backups(self) -> int:
        return sum(".approvald-backup-" in n for n in os.listdir(os.path.dirname(self.file)))


class Install(SettingsTest):
    def check(self, text: str) -> None:
        hooks = json.loads(text)["hooks"]
        for event in EVENTS:
            group = hooks[event][-1]
            hook = group["hooks"][0]
            timeout = 86400 if event in DECIDING else 30
            self.assertEqual(hook, {"type": "command", "command": self.program,
                                    "args": ["claude", "--hook-timeout", str(timeout)], "timeout": timeout})  # fmt: skip
            self.assertEqual(group.get("matcher"), "*" if "Tool" in event or event in DECIDING else None)

    def test_missing_and_empty(self) -> None:
        for text in (None, "", " \n", "{}", "{}\n", '{"hooks":{}}', '{"hooks": {"PreToolUse": []}}'):
            if text is not None:
                self.put(text)
            self.assertEqual(self.install()[0], 0, text)
            self.check(self.get())
            once = self.get()
            self.assertEqual(self.install()[0], 0)
            self.assertEqual(self.get(), once)
            self.assertEqual(self.run_it("uninstall", "claude")[0], 0)
            self.assertEqual(json.loads(self.get()), {})
            os.unlink(self.file)

    def test_mode_of_a_new_file(self) -> None:
        self.install()
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_others_stay_to_the_byte(self) -> None:
        self.put(OTHERS, 0o640)
        self.assertEqual(self.install()[0], 0)
        text = self.get()
        self.check(text)
        # every line that was there is there, in its order
        lines = iter(text.splitlines())
        for line in OTHERS.splitlines():
            self.assertTrue(any(l.rstrip(",") == line.rstrip(",") for l in lines), line)
        self.assertIn('\n        "SessionEnd": [', text)
        self.assertEqual(json.loads(text)["hooks"]["PreToolUse"][0]["matcher"], "Bash")
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o640)
        with open(self.file + ".approvald-backup-1") as f:
            self.assertEqual(f.read(), OTHERS)
        self.assertEqual(self.run_it("uninstall", "claude")[0], 0)
        self.assertEqual(self.get(), OTHERS)
        self.assertEqual(self.backups(), 2)
        self.assertEqual(self.run_it("uninstall", "claude")[0], 0)
        self.assertEqual(self.backups(), 2)

    def test_styles(self) -> None:
        for text in ('{"a":1}', '{\n\t"a": 1\n}\n', '{\n  "a": 1\n}', '{ "a": 1,\n  "b": 2 }\n',
                     '{"hooks":{"PreToolUse":[{"matcher":"X","hooks":[]}]},"a":1}',
                     '\r\n{\r\n  "a": 1\r\n}\r\n'):  # fmt: skip
            with self.subTest(text):
                self.put(text)
                self.assertEqual(self.install()[0], 0)
                self.check(self.get())
                self.assertEqual(self.run_it("uninstall", "claude")[0], 0)
                self.assertEqual(self.get().replace("\r", ""), text.replace("\r", ""))

    def test_refused(self) -> None:
        bad = {
            '{"a": 1, // no\n "b": 2}': "line 1: a comment",
            '{\n/* no */ "a": 1}': "line 2: a comment",
            '{"a": 1,}': "a name in quotes",
            '{"a": 1} x': "behind",
            '{"a": 1': "",
            '{"a": 1,\n"\\u0061": 2}': "line 2: a name that this object has already",
            '{"hooks": {"Stop": [], "Stop": []}}': "already",
            "[]": "no JSON object",
            '{"hooks": []}': "no object",
            '{"hooks": {"Stop": {}}}': "no list",
            "{'a': 1}": "in quotes",
            '{"a": 01}': "",
            '{"a": "\x01"}': "",
            '\ufeff{"a": 1}': "",
        }
        for text, why in bad.items():
            with self.subTest(text):
                self.put(text)
                for command in ((self.install,), (lambda: self.run_it("uninstall", "claude"),)):
                    status, _, err = command[0]()
                    self.assertEqual(status, 1)
                    self.assertIn("nothing was changed", err)
                    self.assertIn(why, err)
                self.assertEqual(self.get(), text)
                self.assertEqual(self.backups(), 0)

    def test_link(self) -> None:
        real = os.path.join(self.place.folder, "dotfiles.json")
        with open(real, "w") as f:
            f.write('{"a": 1}\n')
        os.makedirs(os.path.dirname(self.file))
        os.symlink("../dotfiles.json", self.file)
        self.assertEqual(self.install()[0], 0)
        self.assertTrue(os.path.islink(self.file))
        self.check(self.get(real))
        self.assertTrue(os.path.exists(real + ".approvald-backup-1"))
        os.unlink(real)
        status, _, err = self.install()
        self.assertEqual(status, 1)
        self.assertIn("leads nowhere", err)

    def test_names_what_runs_by_itself(self) -> None:
        """Whatever started this one, the program that the settings name needs nothing of it."""
        self.assertEqual(self.run_it("install", "claude")[0], 0)
        command = json.loads(self.get())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        p = subprocess.run([command, "--version"], capture_output=True, timeout=120, env=env)
        self.assertEqual((p.returncode, p.stderr), (0, b""))

    def test_read_only(self) -> None:
        self.put('{"a": 1}', 0o444)
        status, _, err = self.install()
        self.assertEqual(status, 1)
        self.assertIn("read-only", err)
        self.assertEqual((self.get(), self.backups()), ('{"a": 1}', 0))

    def test_not_a_file(self) -> None:
        os.makedirs(self.file)
        self.assertEqual(self.install()[0], 1)

    def test_dry_run(self) -> None:
        self.put(OTHERS)
        status, out, _ = self.install("--dry-run")
        self.assertEqual(status, 0)
        self.check(out)
        self.assertEqual(self.get(), OTHERS)

    def test_places(self) -> None:
        other = os.path.join(self.place.folder, "other")
        self.assertEqual(self.run_it("install", "claude", "--command", self.program,
                                     env={"CLAUDE_CONFIG_DIR": other})[0], 0)  # fmt: skip
        self.check(self.get(os.path.join(other, "settings.json")))
        third = os.path.join(self.place.folder, "third.json")
        self.assertEqual(self.install("--settings", third)[0], 0)
        self.check(self.get(third))
        self.assertFalse(os.path.exists(self.file))

    def test_command_must_be_there(self) -> None:
        self.assertEqual(self.run_it("install", "claude", "--command", "/nonexistent/hook")[0], 1)
        self.assertFalse(os.path.exists(self.file))
        self.assertEqual(self.run_it("install", "nobody")[0], 2)
        self.assertEqual(self.run_it("install")[0], 2)

    def test_a_moved_program_and_older_forms(self) -> None:
        ours = {"hooks": [{"type": "command", "command": "/old/approval-hook", "args": ["claude"]}]}
        shell = {"matcher": "*", "hooks": [{"type": "command", "command": "/old/approval-hook claude --wait 1"},
                                           {"type": "command", "command": "other"}]}  # fmt: skip
        self.put(json.dumps({"hooks": {"Stop": [ours, ours], "PreToolUse": [shell], "Gone": [ours]}}))
        self.assertEqual(self.install()[0], 0)
        self.check(self.get())
        hooks = json.loads(self.get())["hooks"]
        self.assertEqual(len(hooks["Stop"]), 1)
        self.assertEqual(hooks["PreToolUse"][0]["hooks"], [{"type": "command", "command": "other"}])
        self.assertEqual(self.run_it("uninstall", "claude")[0], 0)
        self.assertEqual(json.loads(self.get()), {"hooks": {"PreToolUse": [
            {"matcher": "*", "hooks": [{"type": "command", "command": "other"}]}]}})  # fmt: skip

    def test_added_arguments_stay(self) -> None:
        self.install()
        text = self.get().replace('"86400"]', '"86400", "--if-unreachable=ask"]')
        self.put(text)
        self.assertEqual(self.install()[0], 0)
        self.assertEqual(self.get(), text)


class Doctor(SettingsTest):
    def setUp(self) -> None:
        super().setUp()
        self.broker = FakeBroker(self.place.folder, check=decision("ask", source=None))

    def tearDown(self) -> None:
        self.broker.stop()
        super().tearDown()

    def doctor(self, status: int) -> Dict[str, Any]:
        got, out, err = self.run_it("doctor", "claude", "--json", "--socket", self.broker.path)
        self.assertEqual(got, status, out + err)
        report = json.loads(out)
        self.assertEqual(report["ok"], status == 0)
        return {c["check"]: c for c in report["checks"]}

    def test_all_well(self) -> None:
        self.install()
        found = self.doctor(0)
        for name in EVENTS + ("settings", "broker", "no broker", "garbage"):
            self.assertEqual(found[name]["state"], "ok", found)
        self.assertEqual(self.broker.told("check")[0]["tool"], "ApprovalHookDoctor")
        self.assertTrue(self.broker.told("bye")[-1]["end"])
        self.assertEqual(self.run_it("doctor", "claude", "--socket", self.broker.path)[0], 0)

    def test_no_settings(self) -> None:
        found = self.doctor(1)["settings"]
        self.assertEqual(found["state"], "failed")
        self.assertIn("; `approval-hook install claude` makes it", found["text"])
        self.put("{")
        self.assertIn("line 1", self.doctor(1)["settings"]["text"])

    def test_findings(self) -> None:
        self.install()
        good = self.get()
        for event, old, new, state, why in (
            ("PreToolUse", '"timeout": 86400', '"timeout": 3000000', "failed", "overflows"),
            ("PreToolUse", '"timeout": 86400', '"timeout": 600', "failed", "too late"),
            ("PreToolUse", ',\n            "timeout": 86400', "", "failed", "600 s"),
            ("PreToolUse", '"timeout": 86400', '"timeout": 1.5', "failed", "whole number"),
            ("PreToolUse", '"matcher": "*"', '"matcher": "Bash"', "failed", "other tools"),
            ("PreToolUse", '"type": "command"', '"type": "command", "async": true', "failed", "asynchronous"),
            ("PreToolUse", self.program, "/nonexistent/approval-hook", "failed", "unasked"),
            ("PreToolUse", self.program, "approval-hook", "failed", "not absolute"),
            ("PreToolUse", '"PreToolUse"', '"PreTool"', "failed", "missing"),
            ("settings", '{', '{"disableAllHooks": true,', "failed", "disableAllHooks"),
        ):  # fmt: skip
            with self.subTest(new):
                self.assertIn(old, good)
                self.put(good.replace(old, new, 1))
                _, out, _ = self.run_it("doctor", "claude", "--json", "--socket", self.broker.path)
                checks = [c for c in json.loads(out)["checks"] if c["check"] == event and c["state"] == state]
                self.assertTrue(any(why in c["text"] for c in checks), out)

    def test_broker_is_down(self) -> None:
        self.install()
        self.broker.stop()
        found = self.doctor(1)
        self.assertEqual(found["broker"]["state"], "failed")
        self.assertIn("start one with 'approvald &'", found["broker"]["text"])
        self.assertNotIn("tell the person", found["broker"]["text"])
        self.assertEqual(found["no broker"]["state"], "ok")
        self.broker.start()

    def test_a_hook_that_fails_open(self) -> None:
        self.install()
        for body in ("exit 0", "exit 1", "kill -9 $$", "cat >/dev/null; echo garbage"):
            with open(self.program, "w") as f:
                f.write("#!/bin/sh\n%s\n" % body)
            found = self.doctor(1)
            for name in ("broker", "no broker", "garbage"):
                self.assertEqual(found[name]["state"], "failed", (body, found))

    def test_ask_is_a_warning(self) -> None:
        self.install()
        self.put(self.get().replace('"86400"]', '"86400", "--if-unreachable=ask"]'))
        self.assertEqual(self.doctor(0)["no broker"]["state"], "warning")


if __name__ == "__main__":
    unittest.main()
