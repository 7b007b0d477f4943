# SPDX-License-Identifier: MIT
"""approval-hook claude against a scripted broker: HOOK names the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import unittest
from typing import Any, Dict, List, Optional

from hookkit import (HOLD, Agent, Error, FakeBroker, Place, answer, decision, prompt)


def pre(out: Any) -> Dict[str, Any]:
    body = out["hookSpecificOutput"]
    assert body["hookEventName"] == "PreToolUse", out
    return body


def permission(out: Any) -> Dict[str, Any]:
    body = out["hookSpecificOutput"]
    assert body["hookEventName"] == "PermissionRequest", out
    return body["decision"]


class HookTest(unittest.TestCase):
    def setUp(self) -> None:
        self.place = Place()
        self.broker: Optional[FakeBroker] = None
        self.agents: List[Agent] = []

    def tearDown(self) -> None:
        if self.broker:
            self.broker.stop()
        for a in self.agents:
            if a.process.poll() is None:
                a.process.kill()
                a.process.wait()
            a.process.stdout.close()
            a.process.stderr.close()
        # its watchers end with their broker, or with the agent that is gone
        self.place.watchers_end()
        self.place.remove()

    def script(self, **script: Any) -> FakeBroker:
        self.broker = FakeBroker(self.place.folder, **script)
        return self.broker

    def start(self, event: Any, *args: str, entry: str = "cli") -> Agent:
        socket = self.broker.path if self.broker else os.path.join(self.place.folder, "sock")
        a = Agent(["claude", "--socket", socket, *args], event, self.place.env, entry)
        self.agents.append(a)
        return a

    def run_hook(self, event: Any, *args: str, entry: str = "cli") -> Any:
        return self.start(event, *args, entry=entry).end()


class Decisions(HookTest):
    def test_check_in_the_terminal(self) -> None:
        b = self.script(check=decision("allow", source="rule", reason="ls is fine"))
        status, out, err = self.run_hook(self.place.event("PreToolUse"), "--hook-timeout", "86400")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(pre(out)["permissionDecision"], "allow")
        self.assertIn("ls is fine", pre(out)["permissionDecisionReason"])
        self.assertNotIn("updatedInput", pre(out))
        hello = b.told("hello")[0]
        self.assertEqual(hello["agent"], "claude")
        self.assertEqual(hello["session"], self.place.session)
        self.assertEqual(hello["mode"], "normal")
        self.assertEqual(hello["channel_ms"], 86400000)
        self.assertTrue(hello["subject"])
        self.assertIsNone(hello.get("parent"))
        self.assertEqual(b.pidfds, 1)
        check = b.told("check")[0]
        self.assertEqual(check["tool_call_id"], "toolu_1e48b3b06ca24df88706")
        self.assertEqual(check["tool"], "Bash")
        self.assertEqual(check["input"], {"command": "touch /home/u/proj/proof", "description": "fake step"})
        self.assertEqual(list(check["input"]), ["command", "description"])
        self.assertEqual(check["turn_id"], "f6bc3082-f04a-402d-bd1f-29a32489566d")
        self.assertEqual(check["cwd"], self.place.folder)
        self.assertTrue(check["takes_input"])
        self.assertEqual(b.told("request"), [])

    def test_check_asks_and_denies(self) -> None:
        b = self.script(check=decision("ask", step="ask-rules", source=None))
        status, out, _ = self.run_hook(self.place.event("PreToolUse"))
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "ask"))
        self.assertIn("ask-rules", pre(out)["permissionDecisionReason"])
        b.script["check"] = decision("deny", message="Not performed.", reason="no rm")
        status, out, _ = self.run_hook(self.place.event("PreToolUse"))
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "deny"))
        self.assertEqual(pre(out)["permissionDecisionReason"], "Not performed. The reason given: no rm")

    def test_request_elsewhere(self) -> None:
        for entry in ("sdk-cli", "sdk-py", ""):
            with self.subTest(entry):
                b = self.script(request=decision("allow", updated_input={"b": 1, "a": [None, 1.5, "é"]}))
                status, out, _ = self.run_hook(self.place.event("PreToolUse"), entry=entry)
                self.assertEqual((status, pre(out)["permissionDecision"]), (0, "allow"))
                self.assertEqual(json.dumps(pre(out)["updatedInput"]), '{"b": 1, "a": [null, 1.5, "\\u00e9"]}')
                self.assertEqual(b.told("check"), [])
                self.assertFalse(b.told("request")[0].get("elsewhere"))
                b.stop()
                self.broker = None

    def test_no_allow_but_a_plain_one(self) -> None:
        bad = {
            "edited to no object": decision("allow", updated_input=[1]),
            "edited to binary": decision("allow", updated_input={"a": b"\1"}),
            "edited to odd keys": decision("allow", updated_input={1: 2}),
            "ask from request": decision("ask"),
            "no verdict": decision(None),
            "unknown verdict": decision("perhaps"),
            "a number": decision(1),
            "no map": "allow",
            "nothing": None,
        }
        for name, reply in bad.items():
            with self.subTest(name):
                self.script(request=reply)
                status, out, err = self.run_hook(self.place.event("PreToolUse"), entry="sdk-cli")
                if status == 0:
                    self.assertEqual(pre(out)["permissionDecision"], "deny")
                else:
                    self.assertEqual(status, 2)
                    self.assertIsNone(out)
                    self.assertIn("denied", err)
                self.broker.stop()
                self.broker = None

    def test_broker_errors_deny(self) -> None:
        for code in ("limit", "gone", "store", "mismatch", "too_large"):
            with self.subTest(code):
                self.script(check=Error(code))
                status, out, _ = self.run_hook(self.place.event("PreToolUse"))
                self.assertEqual((status, pre(out)["permissionDecision"]), (0, "deny"))
                self.assertIn(code, pre(out)["permissionDecisionReason"])
                self.broker.stop()
                self.broker = None

    def test_hello_refused(self) -> None:
        self.script(hello=Error("forbidden", "not \x1b[31myou"))
        for args in ((), ("--if-unreachable=ask",)):
            status, out, err = self.run_hook(self.place.event("PreToolUse"), *args)
            self.assertEqual((status, out), (2, None))
            self.assertIn("forbidden", err)
            self.assertNotIn("\x1b", err)

    def test_modes(self) -> None:
        b = self.script(check=decision("deny"))
        modes = {"default": "normal", "acceptEdits": "auto-edit", "plan": "plan",
                 "bypassPermissions": "yolo", "auto": "normal", "dontAsk": "normal"}  # fmt: skip
        for theirs, ours in modes.items():
            self.run_hook(self.place.event("PreToolUse", permission_mode=theirs))
            self.assertEqual(b.told("hello")[-1]["mode"], ours)
        self.run_hook(self.place.event("PreToolUse", permission_mode=None))
        self.assertIsNone(b.told("hello")[-1].get("mode"))

    def test_sub_agent_is_a_child(self) -> None:
        b = self.script(check=decision("allow"))
        child = os.path.join(self.place.folder, self.place.session, "subagents", "agent-a1b2.jsonl")
        p = "f6bc3082-f04a-402d-bd1f-29a32489566d"
        self.place.write(prompt(p), answer("m1", 1000, 1))
        self.place.write(prompt(p), answer("m2", 7, 3), path=child)
        self.run_hook(self.place.event("PreToolUse", agent_id="a1b2", agent_type="Explore"))
        hello = b.told("hello")[0]
        self.assertEqual(hello["session"], self.place.session + "/agent-a1b2")
        self.assertEqual(hello["parent"], self.place.session)
        self.assertEqual(hello["title"], "Explore")
        self.assertEqual(b.told("usage")[0]["input"], 7)

    def test_new_prompt_begins_its_turn(self) -> None:
        b = self.script(check=decision("allow"))
        self.place.write(prompt("f6bc3082-f04a-402d-bd1f-29a32489566d"), answer("m", 5, 6, 7, 8))
        self.run_hook(self.place.event("PreToolUse"))
        self.assertEqual(b.methods(), ["hello", "turn_begin", "usage", "check"])
        u = b.told("usage")[0]
        self.assertEqual((u["input"], u["output"], u["cache_read"], u["cache_write"]), (5, 6, 7, 8))
        self.assertEqual(u["turn_id"], "f6bc3082-f04a-402d-bd1f-29a32489566d")
        self.assertEqual(u["seq"], os.path.getsize(self.place.transcript))
        self.run_hook(self.place.event("PreToolUse"))
        self.assertEqual(b.methods()[4:], ["hello", "check"])


class Dialogs(HookTest):
    """PermissionRequest: the agent's own dialog stands beside the request."""

    def test_allow_and_deny(self) -> None:
        b = self.script(request=decision("allow", updated_input={"command": "true"}))
        status, out, _ = self.run_hook(self.place.event("PermissionRequest"))
        self.assertEqual(status, 0)
        self.assertEqual(permission(out), {"behavior": "allow", "updatedInput": {"command": "true"}})
        r = b.told("request")[0]
        self.assertIsNone(r.get("tool_call_id"))
        self.assertTrue(r["elsewhere"])
        b.script["request"] = decision("deny", message="Not performed.")
        status, out, _ = self.run_hook(self.place.event("PermissionRequest"))
        self.assertEqual((status, permission(out)), (0, {"behavior": "deny", "message": "Not performed."}))

    def test_answered_in_the_terminal_meanwhile(self) -> None:
        self.script(request=decision("allow", source="elsewhere"))
        self.assertEqual(self.run_hook(self.place.event("PermissionRequest")), (0, None, ""))

    def test_signal_means_refused(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PermissionRequest"))
        b.wait("request")
        os.kill(a.hook(), signal.SIGTERM)
        self.assertEqual(a.end(), (0, None, ""))
        s = b.wait("settled")
        self.assertEqual((s["tool"], s["verdict"]), ("Bash", "deny"))
        self.assertEqual(s["input"]["command"], "touch /home/u/proj/proof")

    def test_reader_gone_means_refused(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PermissionRequest"))
        b.wait("request")
        a.process.stdout.close()
        self.assertEqual(b.wait("settled")["verdict"], "deny")
        self.assertEqual(a.end()[0], 0)

    def test_agent_died(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PermissionRequest"))
        b.wait("request")
        a.process.kill()
        a.process.wait()
        self.assertIsNone(b.wait("settled").get("verdict"))


class Withdrawals(HookTest):
    """PreToolUse without a dialog."""

    def test_signal(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PreToolUse"), entry="sdk-cli")
        b.wait("request")
        os.kill(a.hook(), signal.SIGTERM)
        self.assertEqual(a.end(), (2, None, ""))
        self.assertEqual(b.wait("cancel")["tool_call_id"], "toolu_1e48b3b06ca24df88706")

    def test_agent_died(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PreToolUse"), entry="sdk-cli")
        b.wait("request")
        a.process.kill()
        self.assertIn("died", b.wait("cancel")["reason"])

    def test_own_deadline(self) -> None:
        b = self.script(request=HOLD)
        started = time.monotonic()
        status, out, _ = self.run_hook(self.place.event("PreToolUse"), "--hook-timeout", "6", entry="sdk-cli")
        self.assertLess(time.monotonic() - started, 6)
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "deny"))
        b.wait("cancel")

    def test_broker_restarts(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PreToolUse"), entry="sdk-cli")
        b.wait("request")
        b.stop()
        b.start()
        b.wait("request", 2)
        self.assertEqual(b.told("request")[0]["tool_call_id"], b.told("request")[1]["tool_call_id"])
        b.release(decision("allow"))
        status, out, _ = a.end()
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "allow"))

    def test_broker_does_not_come_back(self) -> None:
        b = self.script(request=HOLD)
        a = self.start(self.place.event("PreToolUse"), "--wait", "300", entry="sdk-cli")
        b.wait("request")
        b.stop()
        self.broker = None
        status, out, _ = a.end()
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "deny"))
        self.assertIn("start a broker with 'approvald &'", pre(out)["permissionDecisionReason"])


class NoBroker(HookTest):
    def test_denied_with_a_way_out(self) -> None:
        started = time.monotonic()
        status, out, err = self.run_hook(self.place.event("PreToolUse"), "--wait", "300")
        self.assertGreater(time.monotonic() - started, 0.25)
        self.assertEqual((status, pre(out)["permissionDecision"], err), (0, "deny", ""))
        self.assertIn("approvalctl doctor", pre(out)["permissionDecisionReason"])
        self.assertIn("no broker answered within 300ms (", pre(out)["permissionDecisionReason"])
        self.assertIn("The call was not performed.", pre(out)["permissionDecisionReason"])
        status, out, _ = self.run_hook(self.place.event("PermissionRequest"), "--wait", "10")
        self.assertEqual((status, permission(out)["behavior"]), (0, "deny"))

    def test_asks_when_told_to(self) -> None:
        args = ("--wait", "10", "--if-unreachable=ask")
        status, out, _ = self.run_hook(self.place.event("PreToolUse"), *args)
        self.assertEqual((status, pre(out)["permissionDecision"]), (0, "ask"))
        # it may still be performed, and a person reads this
        reason = pre(out)["permissionDecisionReason"]
        self.assertIn("so you are asked here. Start one with 'approvald &'", reason)
        self.assertNotIn("not performed", reason)
        self.assertNotIn("tell the person", reason)
        self.assertEqual(self.run_hook(self.place.event("PermissionRequest"), *args), (0, None, ""))

    def test_other_events_fail_softly(self) -> None:
        for name in ("PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"):
            status, out, err = self.run_hook(self.place.event(name), "--wait", "10")
            self.assertEqual((status, out), (1, None), name)
            self.assertIn("no broker", err)
        self.assertEqual(self.run_hook(self.place.event("Notification")), (0, None, ""))


class Input(HookTest):
    def denied(self, event: Any, why: str = "") -> None:
        status, out, err = self.run_hook(event, "--wait", "10")
        self.assertEqual((status, out), (2, None))
        self.assertIn("denied", err)
        self.assertIn(why, err)

    def test_garbage(self) -> None:
        good = json.dumps(self.place.event("PreToolUse")).encode()
        for bad in (b"", b"x", b"{", b"[]", b"null", b"{}", good[:-1], good + b"x", good + good,
                    b"/**/" + good, good.replace(b'"Bash"', b"'Bash'"), b"\0" + good, good + b"\0",
                    b'{"hook_event_name":1}', b"[" * 100000, b"\xff\xfe" + good):  # fmt: skip
            with self.subTest(bad[:40]):
                self.denied(bad)

    def test_fields(self) -> None:
        for name in ("PreToolUse", "PermissionRequest"):
            for more in ({"session_id": None}, {"session_id": ""}, {"session_id": 1}, {"tool_name": None},
                         {"session_id": "s" * 257}, {"tool_name": ["Bash"]}, {"tool_input": None},
                         {"tool_input": "ls"}, {"tool_input": []}, {"cwd": {}}, {"prompt_id": 5},
                         {"permission_mode": 5}, {"agent_id": "a" * 250}, {"transcript_path": 1},
                         {"tool_name": "Ba\0sh"}):  # fmt: skip
                with self.subTest(f"{name} {more}"[:60]):
                    self.denied(self.place.event(name, **more))
        self.denied(self.place.event("PreToolUse", tool_use_id=None))

    def test_unknown_events(self) -> None:
        self.denied(self.place.event("PreToolUse", hook_event_name="BeforeAnything"), "not known")
        status, out, err = self.run_hook(self.place.event("Stop", hook_event_name="Later"))
        self.assertEqual((status, out), (1, None))
        self.assertIn("not known", err)

    def test_over_the_limits(self) -> None:
        b = self.script(check=decision("allow"))
        deep: Any = 1
        for _ in range(25):
            deep = [deep]
        for big in ({"command": "x" * (1 << 20)}, {"a": deep}, {"a": [0] * 13000}):
            status, out, _ = self.run_hook(self.place.event("PreToolUse", tool_input=big))
            self.assertEqual((status, pre(out)["permissionDecision"]), (0, "deny"))
            self.assertIn("over the limit", pre(out)["permissionDecisionReason"])
        self.assertEqual(b.calls, [])
        status, out, _ = self.run_hook(self.place.event("PreToolUse", tool_input={"c": "x" * ((1 << 20) - 99)}))
        self.assertEqual(pre(out)["permissionDecision"], "allow")

    def test_huge(self) -> None:
        event = json.dumps(self.place.event("PreToolUse", tool_input={"c": "x" * (17 << 20)})).encode()
        self.denied(event, "16 MiB")

    def test_output_closed(self) -> None:
        self.script(check=decision("allow"))
        for how in (">&-", ">/dev/full"):
            p = subprocess.run(
                ["/bin/sh", "-c", f'"$@" {how}; exit $?', "agent", os.environ["HOOK"], "claude",
                 "--socket", self.broker.path], input=json.dumps(self.place.event("PreToolUse")).encode(),
                env={**os.environ, **self.place.env, "CLAUDE_CODE_ENTRYPOINT": "cli"},
                stderr=subprocess.PIPE, timeout=30)  # fmt: skip
            self.assertEqual(p.returncode, 2, p.stderr)

    def test_wrong_options_deny(self) -> None:
        for args in (["--hook-timeout", "0"], ["--hook-timeout", "86401"], ["--nonsense"], ["x"],
                     ["--if-unreachable=allow"], ["--wait", "-1"], ["--wait", "soon"]):  # fmt: skip
            status, out, _ = self.run_hook(self.place.event("PreToolUse"), *args)
            self.assertEqual((status, out), (2, None), args)

    def test_fatal_signals_deny(self) -> None:
        b = self.script(request=HOLD)
        for sig in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGALRM):
            n = len(b.told("request"))
            a = self.start(self.place.event("PreToolUse"), entry="sdk-cli")
            b.wait("request", n + 1)
            os.kill(a.hook(), sig)
            status, out, err = a.end()
            self.assertEqual((status, out), (2, None), sig)
            self.assertIn("denied", err)


class Tells(HookTest):
    def test_outcomes(self) -> None:
        b = self.script()
        self.assertEqual(self.run_hook(self.place.event("PostToolUse")), (0, None, ""))
        o = b.told("outcome")[0]
        self.assertEqual((o["tool_call_id"], o["tool"], o["outcome"]),
                         ("toolu_1e48b3b06ca24df88706", "Bash", "succeeded"))  # fmt: skip
        self.assertEqual(o["input"]["command"], "touch /home/u/proj/proof")
        self.run_hook(self.place.event("PostToolUse", hook_event_name="PostToolUseFailure"))
        self.run_hook(self.place.event("PostToolUse", tool_response={"interrupted": True}))
        self.run_hook(self.place.event("PostToolUse", tool_response={"success": False}))
        self.run_hook(self.place.event("PostToolUse", tool_response="text"))
        self.run_hook(self.place.event("PostToolUse", hook_event_name="PermissionDenied"))
        self.assertEqual([o["outcome"] for o in b.told("outcome")],
                         ["succeeded", "failed", "failed", "failed", "succeeded", "not_run"])  # fmt: skip

    def test_turns(self) -> None:
        b = self.script()
        long = "é" * 5000
        self.assertEqual(self.run_hook(self.place.event("UserPromptSubmit", prompt=long))[0], 0)
        t = b.told("turn_begin")[0]
        self.assertEqual(t["turn_id"], "f6bc3082-f04a-402d-bd1f-29a32489566d")
        self.assertEqual(t["prompt"], "é" * 2048)
        self.place.write(prompt(t["turn_id"]), answer("m", 10, 1))
        self.assertEqual(self.run_hook(self.place.event("Stop")), (0, None, ""))
        # the usage may be the watcher's report
        m = b.methods()
        self.assertLess(m.index("usage"), m.index("settled"))
        self.assertEqual(m[-2:], ["settled", "turn_end"])
        self.assertEqual(b.told("settled")[0], {})
        self.assertEqual(b.told("usage")[-1]["input"], 10)

    def test_stop_of_a_turn_that_is_over(self) -> None:
        self.script(turn_end=Error("not_found"))
        self.assertEqual(self.run_hook(self.place.event("Stop")), (0, None, ""))
        self.broker.script["turn_end"] = Error("store")
        status, _, err = self.run_hook(self.place.event("Stop"))
        self.assertEqual(status, 1)
        self.assertIn("because", err)

    def test_stop_waits_for_the_last_answer(self) -> None:
        b = self.script()
        p = "f6bc3082-f04a-402d-bd1f-29a32489566d"
        self.place.write(prompt(p))
        a = self.start(self.place.event("Stop"))
        b.wait("hello")
        self.place.write(answer("late", 321, 1))
        a.end()
        self.assertEqual(b.told("usage")[-1]["input"], 321)
        self.assertLess(b.methods().index("usage"), b.methods().index("turn_end"))

    def test_sub_agent_ends(self) -> None:
        b = self.script()
        self.run_hook(self.place.event("Stop", hook_event_name="SubagentStop", agent_id="a1"))
        self.assertEqual(b.told("hello")[0]["session"], self.place.session + "/agent-a1")
        self.assertTrue(b.told("bye")[0]["end"])
        n = len(b.calls)
        self.assertEqual(self.run_hook(self.place.event("Stop", hook_event_name="SubagentStop")), (0, None, ""))
        self.assertEqual(len(b.calls), n)

    def test_session(self) -> None:
        b = self.script()
        self.assertEqual(self.run_hook(self.place.event("SessionStart")), (0, None, ""))
        self.assertEqual(self.run_hook(self.place.event("SessionEnd")), (0, None, ""))
        self.assertTrue(b.told("bye")[-1]["end"])


class Transcripts(HookTest):
    P = "f6bc3082-f04a-402d-bd1f-29a32489566d"

    def usage(self, broker: FakeBroker) -> Dict[str, Any]:
        self.run_hook(self.place.event("PreToolUse"))
        return broker.told("usage")[-1]

    def test_counted_once(self) -> None:
        b = self.script(check=decision("allow"))
        self.place.write(prompt(self.P), answer("a", 100, 1), answer("a", 100, 9), answer("b", 50, 2))
        u = self.usage(b)
        self.assertEqual((u["input"], u["output"]), (150, 11))
        self.place.write(answer("b", 50, 7), answer("a", 100, 9))
        u = self.usage(b)
        self.assertEqual((u["input"], u["output"]), (150, 16))

    def test_incomplete_lines_wait(self) -> None:
        b = self.script(check=decision("allow"))
        line = json.dumps(answer("a", 100, 1), separators=(",", ":"))
        self.place.write(prompt(self.P), line[:50])
        self.assertEqual(self.usage(b)["input"], 0)
        self.place.write(line[50:] + "\n")
        self.assertEqual(self.usage(b)["input"], 100)

    def test_cut_and_replaced(self) -> None:
        b = self.script(check=decision("allow"))
        self.place.write(prompt(self.P), answer("a", 100, 1), answer("b", 10, 1))
        first = self.usage(b)
        os.rename(self.place.transcript, self.place.transcript + ".old")
        self.place.write(prompt(self.P), answer("a", 100, 1))
        u = self.usage(b)
        self.assertEqual(u["input"], 110)  # not 210, nor less than before
        self.assertGreater(u["seq"], first["seq"])
        self.place.write(answer("b", 10, 1), answer("c", 5, 1))
        self.assertEqual(self.usage(b)["input"], 115)

    def test_turns_of_the_file(self) -> None:
        b = self.script(check=decision("allow"))
        self.place.write(prompt("old"), answer("a", 100, 1), prompt(self.P), answer("b", 7, 1))
        self.run_hook(self.place.event("PreToolUse"))
        self.assertEqual([(u["turn_id"], u["input"]) for u in b.told("usage")], [("old", 100), (self.P, 7)])

    def test_a_session_resumed_is_not_paid_again(self) -> None:
        b = self.script(check=decision("allow"))
        self.place.write(prompt("old"), answer("a", 100, 1))
        self.run_hook(self.place.event("SessionStart", source="resume"))
        self.run_hook(self.place.event("UserPromptSubmit"))
        self.place.write(prompt(self.P), answer("b", 7, 1))
        self.assertEqual(self.usage(b)["input"], 7)

    def test_samples(self) -> None:
        b = self.script(check=decision("allow"))
        with open(os.path.join(os.path.dirname(__file__), "data", "transcript-usage-lines.claude.jsonl")) as f:
            self.place.write(prompt(self.P), f.read())
        u = self.usage(b)
        self.assertEqual((u["input"], u["output"], u["cache_read"]), (2100, 21, 10))


class Watchers(HookTest):
    """The detached process that a session has."""

    P = "f6bc3082-f04a-402d-bd1f-29a32489566d"

    def agent(self, *events: Dict[str, Any]) -> subprocess.Popen:
        """An agent that lives on behind its hooks."""
        script = 'hook=$1; shift; for e do printf %s "$e" | "$hook" claude --socket "$S" || exit 1; done; echo up; cat >/dev/null'
        p = subprocess.Popen(
            ["/bin/sh", "-c", script, "agent", os.environ["HOOK"], *map(json.dumps, events)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **self.place.env, "S": self.broker.path})  # fmt: skip
        self.assertEqual(p.stdout.readline(), b"up\n")
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdin.close)
        return p

    def test_reports_and_sees_interrupts(self) -> None:
        b = self.script()
        self.agent(self.place.event("SessionStart"), self.place.event("UserPromptSubmit"))
        self.assertEqual(len(self.place.watchers()), 1)
        self.place.write(prompt(self.P), answer("a", 100, 1))
        b.until(lambda: any(u["input"] == 100 and u["turn_id"] == self.P for u in b.told("usage")))
        self.place.write(prompt(self.P, [{"type": "tool_result", "content": "[Request interrupted by user"}]))
        self.place.write(answer("b", 11, 1))
        b.until(lambda: any(u["input"] == 111 for u in b.told("usage")))
        self.assertEqual(b.told("turn_end"), [])
        self.place.write(prompt(self.P, [{"type": "text", "text": "[Request interrupted by user for tool use]"}]))
        self.assertEqual(b.wait("turn_end")["turn_id"], self.P)
        self.assertEqual(b.told("settled"), [{}])

    def test_old_interrupts_are_history(self) -> None:
        b = self.script()
        self.place.write(prompt(self.P, "[Request interrupted by user]"))
        self.agent(self.place.event("SessionStart", source="resume"))
        self.place.write(prompt("new"), answer("a", 3, 1))
        b.until(lambda: any(u["input"] == 3 for u in b.told("usage")))
        self.assertEqual(b.told("turn_end"), [])

    def test_ends_with_the_agent(self) -> None:
        self.script()
        p = self.agent(self.place.event("SessionStart"))
        self.assertEqual(len(self.place.watchers()), 1)
        p.stdin.close()
        self.place.watchers_end()

    def test_ends_with_the_session(self) -> None:
        b = self.script()
        self.agent(self.place.event("SessionStart"), self.place.event("SessionEnd"))
        self.place.watchers_end()
        b.until(lambda: len(b.told("hello")) == 2)

    def test_ends_with_the_transcript(self) -> None:
        b = self.script()
        self.agent(self.place.event("SessionStart"))
        self.place.write(prompt(self.P), answer("a", 3, 1))
        b.until(lambda: any(u["input"] == 3 for u in b.told("usage")))
        os.unlink(self.place.transcript)
        self.place.watchers_end()

    def test_ends_with_the_broker_and_comes_back(self) -> None:
        b = self.script()
        self.agent(self.place.event("SessionStart"))
        b.stop()
        self.place.watchers_end()
        b.start()
        self.agent(self.place.event("PostToolUse"))
        self.assertEqual(len(self.place.watchers()), 1)


class BesideAHugeTranscript(HookTest):
    def test_little_is_read(self) -> None:
        b = self.script(check=decision("allow"))
        line = json.dumps(answer("x", 1, 1)) + "\n"
        with open(self.place.transcript, "w") as f:
            f.write(json.dumps(prompt("old")) + "\n")
            f.truncate(100 << 20)
            f.seek(100 << 20)
            f.write("\n" + line + json.dumps(prompt("f6bc3082-f04a-402d-bd1f-29a32489566d"), separators=(",", ":")) + "\n")
        self.place.write(answer("a", 9, 1))
        started = time.monotonic()
        status, _, _ = self.run_hook(self.place.event("PreToolUse"))
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(status, 0)
        self.assertEqual(b.told("usage")[-1]["input"], 10)


if __name__ == "__main__":
    unittest.main()
