# SPDX-License-Identifier: MIT
"""The Python client against the real broker: APPROVALD names its program."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Callable, Dict, Iterator, List, Tuple

import approval_client as ac

CLIENT = os.path.abspath(ac.__file__)
PATIENCE = 60
fork = multiprocessing.get_context("fork")


def too_long(signum: int, frame: Any) -> None:
    raise AssertionError("what is waited for does not come")


class Broker:
    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="approval-python-")
        self.agent = f"{self.folder}/run/agent/sock"
        self.frontend = f"{self.folder}/run/frontend/sock"
        open(f"{self.folder}/conf", "w").close()
        os.environ["APPROVAL_SOCKET"] = self.agent
        os.environ["APPROVAL_FRONTEND_SOCKET"] = self.frontend
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                os.environ["APPROVALD"],
                "--runtime-dir", f"{self.folder}/run",
                "--state-dir", f"{self.folder}/state",
                "--config", f"{self.folder}/conf",
            ],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        shutil.rmtree(self.folder)
        return status


class Child:
    """An agent is a process of its own: the one that answers may not be it."""

    def __init__(self, script: Callable[[ac.Agent], Any], **hello: Any) -> None:
        self.pipe, other = fork.Pipe()
        self.process = fork.Process(target=self.run, args=(other, script, hello))
        self.process.start()
        other.close()

    @staticmethod
    def run(pipe: Any, script: Callable[[ac.Agent], Any], hello: Dict[str, Any]) -> None:
        try:
            with ac.Agent() as agent:
                agent.hello("tester", **hello)
                pipe.send((script(agent), None))
        except Exception as e:  # pylint: disable=broad-except
            pipe.send((None, f"{type(e).__name__}: {e}"))

    def result(self) -> Any:
        if not self.pipe.poll(PATIENCE):
            self.process.kill()
            raise AssertionError("the agent says nothing")
        value, error = self.pipe.recv()
        self.process.join(PATIENCE)
        if error:
            raise AssertionError(error)
        return value


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(2 * PATIENCE)
        self.broker = Broker()
        self.frontend = ac.Frontend()
        hello = self.frontend.hello("human", reasons=True)
        self.assertEqual(hello["protocol"], 1)
        self.assertEqual(hello["uid"], os.getuid())
        self.events: Iterator[Tuple[str, Dict[str, Any]]] = self.frontend.subscribe()
        self.until("snapshot")

    def tearDown(self) -> None:
        signal.alarm(0)
        self.frontend.close()
        self.assertEqual(self.broker.end(), 0)

    def until(self, *names: str) -> Dict[str, Any]:
        for name, params in self.events:
            if name in names:
                return params
        raise AssertionError("no more events")

    def prompt(self) -> Dict[str, Any]:
        """The next request that may be answered, from the snapshot or as an event."""
        for name, params in self.events:
            item = params.get("item", params)
            if name in ("item", "offered") and item.get("state") == "AWAITING":
                return item
        raise AssertionError("no more events")

    def test_allow(self) -> None:
        def script(agent: ac.Agent) -> Tuple[Any, ...]:
            d = agent.request("Bash", {"command": "make"}, tool_call_id="c1", summary="build")
            state = agent.outcome("c1", "succeeded")["state"]
            agent.bye(end=True)
            return d.allowed, d.tool_call_id, d.result, state

        child = Child(script, title="a title", cwd="/")
        item = self.prompt()
        self.assertEqual(item["tool"], "Bash")
        self.assertEqual(item["command"], "make")
        self.assertEqual(item["summary"], "build")
        self.assertEqual(item["agent"], "tester")
        self.assertEqual(item["title"], "a title")
        self.assertEqual(item["tool_call_id"], "c1")
        self.assertEqual(item["input"], {"command": "make"})
        self.assertEqual(item["pid"], child.process.pid)
        self.assertEqual(item["uid"], os.getuid())
        self.assertEqual(len(item["digest"]), hashlib.sha256().digest_size)
        # what was not seen is not approved
        wrong = dict(item, digest=bytes(32))
        self.assertEqual(self.frontend.allow(wrong)["result"], "digest_mismatch")
        missing = {"request": item["request"], "verdict": "allow"}
        self.assertEqual(self.frontend.decide([missing])[0]["result"], "invalid")
        self.assertEqual(self.frontend.allow(item)["result"], "ok")
        resolved = self.until("resolved")
        self.assertEqual(resolved["request"], item["request"])
        self.assertEqual(resolved["verdict"], "allow")
        allowed, call_id, result, state = child.result()
        self.assertTrue(allowed)
        self.assertEqual((call_id, state), ("c1", "SUCCEEDED"))
        self.assertEqual(result["source"], "user")
        self.assertEqual(result["digest"], item["digest"])
        # the second answer is too late, and is told who was first
        late = self.frontend.deny(item)
        self.assertEqual((late["result"], late["source"]), ("gone", "user"))

    def test_deny(self) -> None:
        child = Child(lambda a: a.request("Bash", {"command": "rm -r ./build"}))
        item = self.prompt()
        self.assertEqual(self.frontend.deny(item, reason="I need it")["result"], "ok")
        d = child.result()
        self.assertEqual((d.verdict, d.reason), ("deny", "I need it"))
        self.assertIn("not performed", d.message)
        self.assertFalse(d.allowed)

    def test_check_then_request(self) -> None:
        def script(agent: ac.Agent) -> Tuple[str, str]:
            asked = agent.check("Bash", {"command": "make"})
            return asked.verdict, agent.request("Bash", {"command": "make"}).verdict

        child = Child(script)
        self.assertEqual(self.frontend.allow(self.prompt())["result"], "ok")
        self.assertEqual(child.result(), ("ask", "allow"))

    def test_several_decisions_at_once(self) -> None:
        children = [Child(lambda a: a.request("Bash", {"command": "x"}).verdict) for _ in range(3)]
        items = [self.prompt() for _ in children]
        results = self.frontend.decide(
            [{"request": i["request"], "verdict": "deny"} for i in items]
            + [{"request": "req_00000000-0000-7000-8000-000000000000", "verdict": "deny"}]
        )
        self.assertEqual([r["result"] for r in results], ["ok"] * 3 + ["not_found"])
        self.assertEqual([c.result() for c in children], ["deny"] * 3)

    def test_late_join_and_pages(self) -> None:
        children = [Child(lambda a: a.request("Bash", {"command": "x"}).verdict) for _ in range(4)]
        early = {self.prompt()["request"] for _ in children}
        with ac.Frontend() as late:
            late.hello("human")
            seen: List[str] = []
            for name, params in late.subscribe(limit=1):
                if name == "snapshot":
                    break
                if params.get("type") == "request":
                    seen.append(params["request"])
            self.assertEqual(len(seen), len(set(seen)))
            self.assertEqual(set(seen), early)
            item = late.get(seen[0])
            self.assertEqual(item["request"], seen[0])
        for request in early:
            self.frontend.decide([{"request": request, "verdict": "deny"}])
        for child in children:
            child.result()

    def test_agent_dies(self) -> None:
        child = Child(lambda a: a.request("Bash", {"command": "x"}, on_disconnect="cancel"))
        item = self.prompt()
        child.process.kill()
        gone = self.until("withdrawn")
        self.assertEqual(gone["request"], item["request"])
        self.assertEqual(self.frontend.deny(item)["result"], "gone")

    def test_broker_is_killed(self) -> None:
        child = Child(lambda a: (a.request("Bash", {"command": "x"}, tool_call_id="c1").verdict,
                                 a.outcome("c1", "failed")["state"]))
        item = self.prompt()
        self.broker.kill()
        with self.assertRaises(ConnectionError):
            self.until("never")
        self.broker.start()
        epoch = self.frontend.hello_result["epoch"]
        self.assertNotEqual(self.frontend.reconnect()["epoch"], epoch)
        self.events = self.frontend.subscribe()
        # pending again under the same id; the agent has noticed nothing but time
        for name, params in self.events:
            again = params.get("item", params)
            if again.get("request") == item["request"] and again.get("state") == "AWAITING":
                break
        self.assertEqual(again["digest"], item["digest"])
        self.assertEqual(self.frontend.allow(again)["result"], "ok")
        self.assertEqual(child.result(), ("allow", "FAILED"))

    def test_turn_and_usage(self) -> None:
        def script(agent: ac.Agent) -> List[Any]:
            turn = agent.turn_begin("t1", "do it")
            agent.usage(1, turn_id="t1", input=100, output=20)
            agent.usage(1, turn_id="t1", input=999)  # not above the last: changes nothing
            again = agent.turn_begin("t1")
            ended = agent.turn_end("t1", {"seq": 2, "input": 150, "output": 30,
                                          "cache_read": 0, "cache_write": 0})
            return [turn, again, ended, agent.hello_result["session"]]

        turn, again, ended, session = Child(script).result()
        self.assertEqual(turn["turn"], again["turn"])
        self.assertEqual(turn["turn"], ended["turn"])
        self.assertEqual(ended["state"], "ENDED")
        seen: List[Tuple[int, int]] = []
        for name, params in self.events:
            item = params.get("item", params)
            if item.get("type") == "turn" and item["turn"] == turn["turn"]:
                self.assertEqual(item["session"], session)
                self.assertEqual(item["agent_turn"], "t1")
                seen.append((item["input"], item["output"]))
                if item["state"] == "ENDED":
                    break
        self.assertEqual(seen[-1], (150, 30))
        self.assertNotIn(999, [i for i, _ in seen])

    def test_errors(self) -> None:
        with self.assertRaises(ac.ApprovalError) as caught:
            self.frontend.call("no_such_method")
        self.assertEqual(caught.exception.code, "unknown_method")
        self.assertEqual(caught.exception.data["method"], "no_such_method")
        with self.assertRaises(ac.ApprovalError) as caught:
            self.frontend.call("get", {"id": 7})
        self.assertEqual(caught.exception.code, "invalid")
        self.assertEqual(caught.exception.data["param"], "id")

    def test_no_agent_answers(self) -> None:
        def script(agent: ac.Agent) -> str:
            with ac.Frontend() as frontend:
                try:
                    frontend.hello("human")
                    return "it was let in"
                except ac.ApprovalError as e:
                    return e.code

        self.assertEqual(Child(script).result(), "forbidden")

    def test_keys_of_any_kind(self) -> None:
        child = Child(lambda a: a.request("Odd", {1: "one", "k": "v"}).verdict)
        item = self.prompt()
        self.assertEqual(item["input"]["k"], "v")
        self.frontend.deny(item)
        self.assertEqual(child.result(), "deny")

    def test_programs(self) -> None:
        watch = subprocess.Popen([sys.executable, CLIENT, "watch"], stdout=subprocess.PIPE,
                                 text=True)
        assert watch.stdout
        self.assertEqual(watch.stdout.readline(), "that is all for now\n")
        ask = subprocess.Popen([sys.executable, CLIENT, "ask", "--", "sh", "-c", "exit 7"])
        item = self.prompt()
        self.assertEqual(item["command"], "sh -c 'exit 7'")
        self.assertIn(item["request"], watch.stdout.readline())
        self.assertEqual(self.frontend.allow(item)["result"], "ok")
        self.assertEqual(ask.wait(PATIENCE), 7)
        self.assertEqual(watch.stdout.readline(), f"over {item['request']} ALLOWED\n")
        watch.terminate()
        watch.wait()
        watch.stdout.close()
        deny = subprocess.Popen([sys.executable, CLIENT, "watch", "--deny"],
                                stdout=subprocess.DEVNULL)
        done = subprocess.run([sys.executable, CLIENT, "ask", "rmdir", "x"], check=False,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this terminal denies all", done.stderr)
        deny.terminate()
        deny.wait()


class WithoutBrokerTest(unittest.TestCase):
    def test_nobody_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with ac.Frontend(f"{folder}/sock") as frontend:
                with self.assertRaises(FileNotFoundError):
                    frontend.reconnect(0.1)


if __name__ == "__main__":
    unittest.main()
