#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of approvald in Python: standard library and msgpack, nothing else.

It was written from doc/protocol.md alone, to show that this is enough.

    approval_client.py ask -- rm -r ./build      wait for an answer, then run it
    approval_client.py watch [--deny]            show what waits (and deny it all)
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import socket
import stat
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import msgpack

PROTOCOL = 1
CLIENT = "approval_client.py 1"
MAX_FRAME = 4 << 20
RETRY_SECONDS = 30.0  # nobody waits longer for a broker
COME_AGAIN = ("shutdown", "store", "limit")  # refusals that pass

Map = Dict[str, Any]


class ApprovalError(Exception):
    """What the broker answered instead of a result."""

    def __init__(self, code: str, message: str = "", data: Optional[Map] = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.data = code, message, data or {}


class ProtocolError(ConnectionError):
    """What came is not the protocol; the connection is of no use any more."""


class Untrusted(Exception):
    """What serves the socket is not a broker of ours."""


@dataclass(frozen=True)
class Decision:
    """The answer to a request or a check. Only `allow` is a permission."""

    verdict: str
    tool_call_id: str
    result: Map

    @property
    def allowed(self) -> bool:
        return self.verdict == "allow"

    @property
    def reason(self) -> str:
        return str(self.result.get("reason") or "")

    @property
    def message(self) -> str:
        return str(self.result.get("message") or "")


def socket_path(side: str) -> str:
    """Where the broker of this user listens; side is "agent" or "frontend"."""
    variable = "APPROVAL_SOCKET" if side == "agent" else "APPROVAL_FRONTEND_SOCKET"
    if os.environ.get(variable):
        return os.environ[variable]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and runtime.startswith("/"):  # others are to be ignored, says XDG
        return f"{runtime}/approvald/{side}/sock"
    folder = f"/tmp/approvald-{os.geteuid()}"
    try:
        st = os.lstat(folder)
    except FileNotFoundError:
        return f"{folder}/{side}/sock"
    if not stat.S_ISDIR(st.st_mode) or st.st_uid != os.geteuid() or st.st_mode & 0o077:
        raise Untrusted(f"{folder} is not ours alone")
    return f"{folder}/{side}/sock"


def _map(pairs: List[Tuple[Any, Any]]) -> Map:
    """Agents may use anything as a key in their inputs; Python may not."""
    return {k if isinstance(k, (str, bytes, int)) else repr(k): v for k, v in pairs}


class Connection:
    """One connection: calls, replies in any order, notifications between them."""

    side = ""

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path
        self.hello_result: Map = {}
        self._socket: Optional[socket.socket] = None
        self._unpacker = msgpack.Unpacker()
        self._next_id = 0
        self._replies: Dict[int, Tuple[Any, Any, int]] = {}
        self._notifications: List[Tuple[str, Map]] = []
        self._before = 0  # of them came before the last reply

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def fileno(self) -> int:
        return self._socket.fileno() if self._socket else -1

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None

    def connect(self) -> None:
        self.close()
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=MAX_FRAME + 65536,
            unicode_errors="surrogateescape",
            strict_map_key=False,
            object_pairs_hook=_map,
        )
        self._replies.clear()
        self._notifications.clear()
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.connect(self.path or socket_path(self.side))
            size = struct.calcsize("iII")
            _pid, uid, _gid = struct.unpack(
                "iII", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            )
            if uid not in (os.geteuid(), 0):
                raise Untrusted(f"{s.getpeername()} belongs to uid {uid}")
        except BaseException:
            s.close()
            raise
        self._socket = s

    def _send(self, data: bytes, fd: Optional[int] = None) -> None:
        if not self._socket:
            raise ConnectionError("not connected")
        sent = socket.send_fds(self._socket, [data], [fd]) if fd is not None else 0
        self._socket.sendall(data[sent:])

    def _receive(self) -> None:
        """Reads until at least one message has come."""
        seen = False
        while not seen:
            for message in self._unpacker:
                self._sort(message)
                seen = True
            if seen:
                return
            if not self._socket:
                raise ConnectionError("not connected")
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionError("the broker closed the connection")
            try:
                self._unpacker.feed(data)
            except msgpack.BufferFull as e:
                raise ProtocolError("a message is too large") from e

    def _sort(self, message: Any) -> None:
        if isinstance(message, list) and len(message) == 4 and message[0] == 1:
            self._replies[message[1]] = (message[2], message[3], len(self._notifications))
        elif (
            isinstance(message, list)
            and len(message) == 3
            and message[0] == 2
            and isinstance(message[2], list)
            and len(message[2]) == 1
            and isinstance(message[2][0], dict)
        ):
            self._notifications.append((str(message[1]), message[2][0]))
        else:
            raise ProtocolError("not a message")

    def call(self, method: str, params: Optional[Map] = None, fd: Optional[int] = None) -> Any:
        """Calls and waits for the reply. Parameters that are None are left out."""
        self._next_id += 1
        call_id = self._next_id
        given = {k: v for k, v in (params or {}).items() if v is not None}
        message = msgpack.packb([0, call_id, method, [given]], unicode_errors="surrogateescape")
        self._send(message, fd)
        try:
            while call_id not in self._replies:
                self._receive()
        except (ValueError, msgpack.UnpackException) as e:
            raise ProtocolError(str(e)) from e
        error, result, self._before = self._replies.pop(call_id)
        if error is None:
            return result
        if not isinstance(error, dict) or not isinstance(error.get("code"), str):
            raise ProtocolError("an error that is none")
        raise ApprovalError(error["code"], str(error.get("message") or ""), error.get("data"))

    def notification(self) -> Tuple[str, Map]:
        """The next notification; waits for it."""
        try:
            while not self._notifications:
                self._receive()
        except (ValueError, msgpack.UnpackException) as e:
            raise ProtocolError(str(e)) from e
        return self._notifications.pop(0)

    def _greet(self) -> Map:
        raise NotImplementedError

    def reconnect(self, seconds: float = RETRY_SECONDS) -> Map:
        """Connects and says hello, again and again if need be."""
        end = time.monotonic() + seconds
        pause = 0.02
        while True:
            try:
                self.connect()
                self.hello_result = self._greet()
                return self.hello_result
            except (ConnectionError, FileNotFoundError, BlockingIOError):
                if time.monotonic() + pause > end:
                    raise
            except ApprovalError as e:
                if e.code not in COME_AGAIN or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1.0)


class Agent(Connection):
    """Asks. A lost connection is restored, and what was asked is asked again."""

    side = "agent"

    def hello(self, agent: str, subject_pidfd: Optional[int] = None, **params: Any) -> Map:
        """Opens or joins a session; params as in doc/protocol.md."""
        self._hello = dict(params, protocol=PROTOCOL, client=CLIENT, agent=agent)
        self._subject = subject_pidfd
        if subject_pidfd is not None:
            self._hello["subject"] = True
        return self.reconnect()

    def _greet(self) -> Map:
        result: Map = self.call("hello", self._hello, self._subject)
        # a session that the broker named is joined again by its name
        self._hello["session"] = result["agent_session"]
        return result

    def _persist(self, method: str, params: Map) -> Any:
        """For calls that may be repeated without harm."""
        while True:
            try:
                return self.call(method, params)
            except ConnectionError:
                self.reconnect()
            except ApprovalError as e:
                if e.code != "shutdown":
                    raise
                self.reconnect()

    def turn_begin(self, turn_id: Optional[str] = None, prompt: Optional[str] = None) -> Map:
        turn_id = turn_id or "turn_" + secrets.token_hex(16)
        return self._persist("turn_begin", {"turn_id": turn_id, "prompt": prompt})

    def turn_end(self, turn_id: Optional[str] = None, usage: Optional[Map] = None) -> Map:
        return self._persist("turn_end", {"turn_id": turn_id, "usage": usage})

    def usage(self, seq: int, **counts: Any) -> Map:
        """Cumulative for the turn: input, output, cache_read, cache_write, …"""
        params: Map = {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}
        return self._persist("usage", dict(params, seq=seq, **counts))

    def _decided(self, method: str, params: Map) -> Decision:
        call_id = params.setdefault("tool_call_id", "call_" + secrets.token_hex(16))
        result = self._persist(method, params)
        verdict = result.get("verdict") if isinstance(result, dict) else None
        known = ("allow", "deny", "ask") if method == "check" else ("allow", "deny")
        if verdict not in known:
            raise ProtocolError("a verdict that is none")
        if verdict == "allow" and result.get("tool_call_id") != call_id:
            raise ProtocolError("an allow of another call")
        return Decision(verdict, call_id, result)

    def request(self, tool: str, tool_input: Any, **params: Any) -> Decision:
        """Waits until it is decided, however long that takes and whatever restarts."""
        return self._decided("request", dict(params, tool=tool, input=tool_input))

    def check(self, tool: str, tool_input: Any, **params: Any) -> Decision:
        """What would be said without asking a person."""
        return self._decided("check", dict(params, tool=tool, input=tool_input))

    def cancel(self, tool_call_id: str, reason: Optional[str] = None) -> Map:
        return self._persist("cancel", {"tool_call_id": tool_call_id, "reason": reason})

    def outcome(self, tool_call_id: str, outcome: str, summary: Optional[str] = None) -> Map:
        params = {"tool_call_id": tool_call_id, "outcome": outcome, "summary": summary}
        return self._persist("outcome", params)

    def set_mode(self, mode: str) -> Map:
        return self._persist("set_mode", {"mode": mode})

    def bye(self, end: bool = False) -> None:
        self.call("bye", {"end": end})
        self.close()


class Frontend(Connection):
    """Sees what waits, and answers."""

    side = "frontend"

    def hello(self, role: str = "human", **params: Any) -> Map:
        self._hello = dict(params, protocol=PROTOCOL, client=CLIENT, role=role)
        return self.reconnect()

    def _greet(self) -> Map:
        result: Map = self.call("hello", self._hello)
        return result

    def subscribe(self, limit: Optional[int] = None) -> Iterator[Tuple[str, Map]]:
        """Yields ("item", item)…, ("snapshot", {}), then (event, params)…, for ever.

        The first step subscribes. Raises ConnectionError when the connection is lost, or when an event is
        missing: then reconnect() and subscribe() again give a new picture.
        """
        seq = 0
        cursor: Optional[bytes] = None
        more = True
        while more:
            page = self.call("subscribe", {"cursor": cursor, "limit": limit})
            if page["epoch"] != self.hello_result["epoch"]:
                raise ProtocolError("a page of another broker")
            for _ in range(self._before):
                seq += 1
                yield self._event(seq)
            for item in page["items"]:
                yield "item", item
            more, cursor = page["more"], page.get("cursor")
        yield "snapshot", {}
        while True:
            seq += 1
            yield self._event(seq)

    def _event(self, seq: int) -> Tuple[str, Map]:
        name, params = self.notification()
        if params.get("seq") != seq or params.get("epoch") != self.hello_result["epoch"]:
            raise ProtocolError("an event is missing")
        return name, params

    def decide(self, decisions: Sequence[Map]) -> List[Map]:
        """One result for each; never repeated by itself. An allow needs the digest shown."""
        result: List[Map] = self.call("decide", {"decisions": list(decisions)})["results"]
        return result

    def allow(self, item: Map, **more: Any) -> Map:
        decision = {"request": item["request"], "verdict": "allow", "digest": item["digest"]}
        return self.decide([dict(decision, **more)])[0]

    def deny(self, item: Map, **more: Any) -> Map:
        return self.decide([dict(request=item["request"], verdict="deny", **more)])[0]

    def get(self, item_id: str) -> Map:
        item: Map = self.call("get", {"id": item_id})["item"]
        return item


def printable(text: Any) -> str:
    """All text of an agent is hostile: nothing of it reaches the terminal as a command."""
    return "".join(c if c.isprintable() else "?" for c in str("" if text is None else text))


def ask(command: List[str]) -> int:
    with Agent() as agent:
        agent.hello("python", cwd=os.getcwd())
        text = shlex.join(command)
        decision = agent.request("Bash", {"command": text}, on_disconnect="cancel")
        if not decision.allowed:
            print(f"denied: {printable(decision.reason)}", file=sys.stderr)
            print(printable(decision.message), file=sys.stderr)
            return 1
        try:
            status = subprocess.run(command, check=False).returncode
        except OSError as e:
            print(e, file=sys.stderr)
            status = 127
        agent.outcome(decision.tool_call_id, "failed" if status else "succeeded")
        agent.bye(end=True)
        return status if status >= 0 else 128 - status


def show(frontend: Frontend, item: Map, deny: bool) -> None:
    if item.get("type") != "request" or item.get("state") not in ("AWAITING", "HELD"):
        return
    what = item.get("command") or item.get("summary") or ""
    print("waits", item["request"], printable(item.get("agent")), printable(item.get("tool")),
          printable(what), f"({printable(item.get('why'))})", flush=True)
    if deny:
        print("denied:", frontend.deny(item, reason="this terminal denies all")["result"],
              flush=True)


def watch(deny: bool) -> int:
    with Frontend() as frontend:
        frontend.hello("human" if deny else "observer")
        while True:
            try:
                for name, params in frontend.subscribe():
                    if name in ("item", "offered"):
                        show(frontend, params.get("item", params), deny)
                    elif name == "snapshot":
                        print("that is all for now", flush=True)
                    elif name in ("resolved", "withdrawn"):
                        print("over", params["request"], params["state"], flush=True)
            except ConnectionError as e:
                print(e, file=sys.stderr)
                frontend.reconnect()


def main() -> int:
    parser = argparse.ArgumentParser(description="A small client of approvald.")
    commands = parser.add_subparsers(dest="what", required=True)
    p = commands.add_parser("ask", help="ask whether a command may run, then run it")
    p.add_argument("command", nargs=argparse.REMAINDER)
    p = commands.add_parser("watch", help="show what waits for an answer")
    p.add_argument("--deny", action="store_true", help="deny all of it")
    options = parser.parse_args()
    try:
        if options.what == "watch":
            return watch(options.deny)
        command = options.command[1:] if options.command[:1] == ["--"] else options.command
        if not command:
            parser.error("no command")
        return ask(command)
    except KeyboardInterrupt:
        return 130
    except (ApprovalError, OSError, Untrusted) as e:
        # no answer is no permission
        print(f"approval_client.py: {printable(e)}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
