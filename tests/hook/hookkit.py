# SPDX-License-Identifier: MIT
"""A scripted broker, and an agent that runs approval-hook."""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import msgpack

PATIENCE = 30
HERE = os.path.dirname(os.path.abspath(__file__))
HOLD = object()  # a call that is answered later, or never


class Error(Exception):
    def __init__(self, code: str, message: str = "because") -> None:
        self.body = {"code": code, "message": message, "data": None}


class Changes:
    """Who waits looks again at each change of which it is told."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.n = 0

    def tell(self) -> None:
        with self.lock:
            self.n += 1
            self.lock.notify_all()

    def until(self, what: Callable[[], Any]) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            n = self.n
            got = what()
            if got:
                return got
            with self.lock:
                if not self.lock.wait_for(lambda: self.n != n, end - time.monotonic()):
                    raise AssertionError("what is waited for does not come")


def end_of(process: "subprocess.Popen[bytes]") -> int:
    """The exit status; the kernel tells of the end, while Popen.wait looks again and again."""
    fd = os.pidfd_open(process.pid)
    try:
        if not select.select([fd], [], [], PATIENCE)[0]:
            raise AssertionError("a process does not end")
    finally:
        os.close(fd)
    return process.wait()


def until_empty(folder: str) -> None:
    """Waits until there is nothing in a folder, or no folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC)
    assert fd >= 0
    end = time.monotonic() + PATIENCE
    try:
        # IN_DELETE | IN_DELETE_SELF | IN_MOVED_FROM
        libc.inotify_add_watch(fd, os.fsencode(folder), 0x200 | 0x400 | 0x40)
        while os.path.isdir(folder) and os.listdir(folder):
            if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{folder} does not get empty")
            os.read(fd, 65536)
    finally:
        os.close(fd)


def decision(verdict: str, **more: Any) -> Dict[str, Any]:
    d = {
        "request": None if verdict == "ask" else "req_x", "tool_call_id": "t", "turn": "turn_x", "verdict": verdict,
        "source": "user", "scope": "once", "step": "human", "state": "ALLOWED",
        "reason": "", "message": "", "digest": b"\0" * 32,
    }  # fmt: skip
    d.update(more)
    return d


class FakeBroker:
    """One thread for each connection. script: method -> answer, or a function of the parameters."""

    def __init__(self, folder: str, **script: Any) -> None:
        self.path = os.path.join(folder, "sock")
        self.script: Dict[str, Any] = script
        self.calls: List[Tuple[str, Dict[str, Any]]] = []
        self.held: List[Tuple[socket.socket, int, str, Dict[str, Any]]] = []
        self.live: List[socket.socket] = []
        self.cursor: Dict[str, Any] = {}
        self.turn: Optional[str] = None
        self.pidfds = 0
        self.changes = Changes()
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen(64)
        threading.Thread(target=self.accept, args=(self.server,), daemon=True).start()

    def stop(self) -> None:
        """As when it is killed: every connection is lost."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        with self.lock:
            live, self.live, self.held = self.live, [], []
        for c in live:
            try:
                c.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        os.unlink(self.path)

    def accept(self, server: socket.socket) -> None:
        while True:
            try:
                c, _ = server.accept()
            except OSError:
                return
            with self.lock:
                self.live.append(c)
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c: socket.socket) -> None:
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(c, 65536, 4)
            except OSError:
                data, fds = b"", []
            for fd in fds:
                self.pidfds += 1
                os.close(fd)
            if not data:
                c.close()
                return
            unpacker.feed(data)
            for kind, call, method, (params,) in unpacker:
                assert kind == 0
                self.answer(c, call, method, params)

    def answer(self, c: socket.socket, call: int, method: str, params: Dict[str, Any]) -> None:
        with self.lock:
            self.calls.append((method, params))
        try:
            result = self.result(method, params)
            error = None
        except Error as e:
            result, error = None, e.body
        if result is HOLD:
            with self.lock:
                self.held.append((c, call, method, params))
        self.changes.tell()
        if result is HOLD:
            return
        self.reply(c, call, error, result, params)

    def reply(self, c: socket.socket, call: int, error: Any, result: Any, params: Dict[str, Any]) -> None:
        if isinstance(result, dict) and result.get("tool_call_id") == "t":
            result = dict(result, tool_call_id=params.get("tool_call_id") or "t")
        self.send(c, [1, call, error, result])

    def send(self, c: socket.socket, message: Any) -> None:
        try:
            c.sendall(msgpack.packb(message))
        except OSError:
            pass

    def result(self, method: str, params: Dict[str, Any]) -> Any:
        if method == "usage" and params.get("cursor"):
            self.cursor["bytes"] = params["cursor"]
            self.cursor["seq"] = params["seq"]
        if method == "turn_begin":
            self.turn = params.get("turn_id")
        if method in self.script:
            s = self.script[method]
            s = s(params) if callable(s) else s
            if isinstance(s, Error):
                raise s
            return s
        if method == "hello":
            turn = {"turn": "turn_x", "agent_turn": self.turn, "state": "RUNNING"}
            return {
                "protocol": 1, "broker": "fake", "epoch": "e", "session": "ses_x",
                "agent_session": params.get("session"), "mode": "normal", "ceiling": "normal",
                "workspace": None, "turn": turn if self.turn else None,
                "cursor": self.cursor.get("bytes"), "seq": self.cursor.get("seq", 0),
                "pending": [],
            }  # fmt: skip
        if method in ("turn_begin", "turn_end", "usage"):
            return {"turn": "turn_x", "state": "RUNNING"}
        if method in ("settled", "outcome", "cancel"):
            return {"state": "ELSEWHERE"}
        return {}

    def release(self, result: Any, method: Optional[str] = None) -> None:
        """Answers the first held call."""
        def first() -> Any:
            with self.lock:
                for h in self.held:
                    if method in (None, h[2]):
                        self.held.remove(h)
                        return h
            return None

        c, call, _, params = self.changes.until(first)
        self.reply(c, call, None, result, params)

    def told(self, method: str) -> List[Dict[str, Any]]:
        with self.lock:
            return [p for m, p in self.calls if m == method]

    def wait(self, method: str, n: int = 1) -> Dict[str, Any]:
        return self.until(lambda: len(self.told(method)) >= n and self.told(method))[n - 1]

    def until(self, what: Callable[[], Any]) -> Any:
        """For what only a call can bring about."""
        return self.changes.until(what)

    def methods(self) -> List[str]:
        with self.lock:
            return [m for m, _ in self.calls]


class Agent:
    """A process that runs the hook as an agent does, and is its parent. It is not the broker's."""

    def __init__(
        self, args: List[str], event: Any, env: Optional[Dict[str, str]] = None, entry: str = "cli"
    ) -> None:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        e = dict(os.environ)
        e.update({"CLAUDE_CODE_ENTRYPOINT": entry})
        e.update(env or {})
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", '"$@"; exit $?', "agent", os.environ["HOOK"]] + args,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=e,
        )  # fmt: skip
        try:
            self.process.stdin.write(data)
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def hook(self) -> int:
        """The process of a hook that has made a call."""
        p = self.process.pid
        with open(f"/proc/{p}/task/{p}/children") as f:
            return int(f.read().split()[0])

    def end(self) -> Tuple[int, Any, str]:
        """Exit status, the answer as JSON (None: nothing was written), standard error."""
        try:
            out = self.process.stdout.read() if not self.process.stdout.closed else b""
            err = self.process.stderr.read()
            status = end_of(self.process)
        finally:
            self.process.stdout.close()
            self.process.stderr.close()
        return status, json.loads(out) if out else None, err.decode()


class Place:
    """A temporary folder with a transcript, and what the environment must say."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="approval-hook-")
        self.runtime = os.path.join(self.folder, "run")
        os.mkdir(self.runtime, 0o700)
        self.session = "43af58b9-3dfd-4483-8441-52c109611fcf"
        self.transcript = os.path.join(self.folder, self.session + ".jsonl")
        self.env = {
            "XDG_RUNTIME_DIR": self.runtime,
            "XDG_STATE_HOME": os.path.join(self.folder, "state"),
            "HOME": self.folder,
        }

    def event(self, name: str, **more: Any) -> Dict[str, Any]:
        with open(os.path.join(HERE, "data", f"hook-stdin.claude.{name}.json")) as f:
            e = json.load(f)
        e.update(session_id=self.session, transcript_path=self.transcript, cwd=self.folder)
        e.update(more)
        return {k: v for k, v in e.items() if v is not None}

    def write(self, *lines: Any, path: Optional[str] = None) -> None:
        path = path or self.transcript
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as f:
            for line in lines:
                f.write(line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) + "\n")

    def watch_folder(self) -> str:
        return os.path.join(self.runtime, "approvald", "watch")

    def watchers(self) -> List[str]:
        d = self.watch_folder()
        return os.listdir(d) if os.path.isdir(d) else []

    def watchers_end(self) -> None:
        until_empty(self.watch_folder())

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def prompt(prompt_id: str, text: Any = "go") -> Dict[str, Any]:
    return {"isSidechain": False, "promptId": prompt_id, "type": "user",
            "message": {"role": "user", "content": text}}  # fmt: skip


def answer(message_id: str, tokens_in: int, tokens_out: int, cached: int = 0, made: int = 0) -> Dict[str, Any]:
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out,
             "cache_read_input_tokens": cached, "cache_creation_input_tokens": made}  # fmt: skip
    return {"message": {"id": message_id, "role": "assistant", "content": [], "usage": usage},
            "type": "assistant"}  # fmt: skip
