# SPDX-License-Identifier: MIT
"""An agent in bubblewrap: it can ask and be answered, and can't answer."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD, SRC = os.environ["BUILD"], os.environ["SRC"]
CTL = f"{BUILD}/approvalctl"
SANDBOX = [os.environ["SANDBOX"], "-r", BUILD, "-r", SRC]
PATIENCE = 60


class Sandbox(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="approval-sandbox-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.workspace = f"{self.folder}/work"
        os.mkdir(self.workspace)
        open(f"{self.folder}/conf", "w").close()
        self.env = dict(os.environ, HOME=f"{self.folder}/home",
                        APPROVAL_SOCKET=f"{self.folder}/run/agent/sock",
                        APPROVAL_FRONTEND_SOCKET=f"{self.folder}/run/frontend/sock")
        os.mkdir(self.env["HOME"])
        self.started: list = []
        self.broker_start()
        self.watch = subprocess.Popen([CTL, "watch", "--json"], env=self.env,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.event("snapshot")

    def tearDown(self) -> None:
        self.watch.kill()
        self.watch.communicate()
        self.assertEqual([p.args for p in self.started if p.poll() is None], [])
        self.broker_stop()

    def broker_start(self) -> None:
        self.broker = subprocess.Popen(
            [f"{BUILD}/approvald", "--runtime-dir", f"{self.folder}/run", "--state-dir",
             f"{self.folder}/state", "--config", f"{self.folder}/conf"],
            stderr=subprocess.DEVNULL)

    def broker_stop(self) -> None:
        self.broker.terminate()
        self.assertEqual(self.broker.wait(PATIENCE), 0)

    def event(self, name: str) -> dict:
        assert self.watch.stdout
        for line in self.watch.stdout:
            found = json.loads(line)
            if found["event"] == name:
                return found
        raise AssertionError(f"no {name} came")

    def ctl(self, *words: str) -> str:
        return subprocess.run([CTL, *words], env=self.env, check=True, stdout=subprocess.PIPE,
                              text=True, timeout=PATIENCE).stdout

    def start(self, *words: str) -> subprocess.Popen:
        """In the sandbox."""
        return self.spawn(*SANDBOX, "-w", self.workspace, "--", *words)

    def spawn(self, *words: str) -> subprocess.Popen:
        self.started.append(subprocess.Popen(
            words, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True))
        return self.started[-1]

    def inside(self, *words: str) -> tuple:
        process = self.start(*words)
        text, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, text

    def test_asks_and_is_answered(self) -> None:
        ask = self.start(CTL, "ask", "--", "touch", "made")
        item = self.event("offered")["item"]
        self.assertEqual((item["command"], item["workspace"]), ("touch made", self.workspace))
        self.ctl("allow", item["request"])
        text, _ = ask.communicate(timeout=PATIENCE)
        self.assertEqual(ask.returncode, 0, text)
        self.assertTrue(os.path.exists(f"{self.workspace}/made"))
        ask = self.start(CTL, "ask", "--", "touch", "other")
        self.ctl("deny", self.event("offered")["item"]["request"], "--reason", "not that one")
        text, _ = ask.communicate(timeout=PATIENCE)
        self.assertEqual(ask.returncode, 77, text)
        self.assertIn("not that one", text)
        self.assertFalse(os.path.exists(f"{self.workspace}/other"))

    def test_over_a_restart(self) -> None:
        """The folder is bound, and so the socket of the next broker is seen as well."""
        ask = self.start(CTL, "ask", "--", "touch", "made")
        before = self.event("offered")["item"]["request"]
        self.broker.kill()
        self.broker.wait(PATIENCE)
        self.broker_start()
        # it is answerable at once; the agent need not be back
        self.event("snapshot")
        self.ctl("allow", before)
        text, _ = ask.communicate(timeout=PATIENCE)
        self.assertEqual(ask.returncode, 0, text)
        self.assertTrue(os.path.exists(f"{self.workspace}/made"))

    def test_paths_as_it_sees_them(self) -> None:
        """Its /tmp and its home are others than those of the machine."""
        read = [CTL, "check", "--json", "--tool", "Read", "--input"]
        with open(f"{self.workspace}/file", "w") as f:
            f.write("x")
        os.symlink("/tmp/there", f"{self.workspace}/link")
        status, text = self.inside(*read, json.dumps({"file_path": "file"}))
        self.assertEqual((status, json.loads(text)["verdict"]), (0, "allow"))
        # where the link leads to is seen in the sandbox alone
        link = [*read, json.dumps({"file_path": "link"})]
        script = "mkdir /tmp/k && : > /tmp/k/id_rsa && ln -s /tmp/k/id_rsa /tmp/there && exec \"$@\""
        status, text = self.inside("sh", "-c", script, "sh", *link)
        self.assertEqual((status, json.loads(text)["step"]), (79, "floor"))
        outside = subprocess.run(link, env=self.env, cwd=self.workspace, stdout=subprocess.PIPE,
                                 text=True, timeout=PATIENCE)
        self.assertEqual((outside.returncode, json.loads(outside.stdout)["step"]), (79, "human"))

    def test_reaches_nothing_else(self) -> None:
        status, text = self.inside("ls", self.folder, f"{self.folder}/run")
        self.assertEqual(status, 0, text)
        self.assertEqual(sorted(text.split()),
                         sorted([f"{self.folder}:", "home", "run", "work",
                                 f"{self.folder}/run:", "agent"]))
        for words in (["list"], ["list", "--socket", self.env["APPROVAL_FRONTEND_SOCKET"]],
                      ["allow", "--all", "--yes"]):
            status, text = self.inside(CTL, *words)
            self.assertNotEqual(status, 0, text)
        # the agent's socket is none for frontends, and its folder stays as it is
        status, text = self.inside(CTL, "list", "--socket", self.env["APPROVAL_SOCKET"])
        self.assertNotEqual(status, 0, text)
        status, text = self.inside("touch", f"{self.folder}/run/agent/x")
        self.assertNotEqual(status, 0, text)

    def test_no_answer_from_its_own_tree(self) -> None:
        """What the agent's own process starts on the machine may not answer either."""
        agent = self.spawn(CTL, "ask", "--", *SANDBOX, "-w", self.workspace, "--", CTL, "ask",
                           "--", "touch", "made")
        self.ctl("allow", self.event("offered")["item"]["request"])
        inner = self.event("offered")["item"]["request"]
        refused = self.spawn(CTL, "ask", "--", CTL, "allow", inner)
        self.ctl("allow", self.event("offered")["item"]["request"])
        text, _ = refused.communicate(timeout=PATIENCE)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("agent", text)
        self.assertFalse(os.path.exists(f"{self.workspace}/made"))
        self.ctl("deny", inner)
        agent.communicate(timeout=PATIENCE)
        self.assertFalse(os.path.exists(f"{self.workspace}/made"))


if __name__ == "__main__":
    unittest.main()
