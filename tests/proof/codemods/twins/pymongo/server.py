"""As much of MongoDB as the test asks: one collection in memory, over the real protocol."""

import socketserver
import struct
import threading

import bson

documents: list = []


def answer(command: dict) -> dict:
    name = next(iter(command))
    if name.lower() in ("hello", "ismaster"):
        return {"helloOk": True, "isWritablePrimary": True, "ismaster": True, "maxWireVersion": 21, "minWireVersion": 0, "ok": 1}
    if name == "insert":
        documents.extend(command["documents"])
        return {"n": len(command["documents"]), "ok": 1}
    if name == "aggregate":
        return {"cursor": {"id": 0, "ns": "app.notes", "firstBatch": [{"n": len(documents)}]}, "ok": 1}
    if name == "find":
        wanted = command.get("filter", {})
        least = wanted.get("length", {}).get("$gte", 0)
        found = [one for one in documents if one["length"] >= least and wanted.get("text", one["text"]) == one["text"]]
        if "sort" in command:
            found.sort(key=lambda one: one[next(iter(command["sort"]))])
        return {"cursor": {"id": 0, "ns": "app.notes", "firstBatch": found}, "ok": 1}
    return {"ok": 1}


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while header := self.rfile.read(16):
            length, request, _, code = struct.unpack("<iiii", header)
            body = self.rfile.read(length - 16)
            if code == 2004:
                # An old message that asks who is there.
                reply = bson.encode(answer(bson.decode(body[body.index(b"\0", 4) + 9 :])))
                message = struct.pack("<iqii", 8, 0, 0, 1) + reply
                self.wfile.write(struct.pack("<iiii", 16 + len(message), 0, request, 1) + message)
                continue
            command, rest = None, body[4:]
            while rest:
                kind, rest = rest[0], rest[1:]
                (size,) = struct.unpack("<i", rest[:4])
                if kind == 0:
                    command = bson.decode(rest[:size])
                else:
                    end = rest.index(b"\0", 4)
                    name, at, found = rest[4:end].decode(), end + 1, []
                    while at < size:
                        (of,) = struct.unpack("<i", rest[at : at + 4])
                        found.append(bson.decode(rest[at : at + of]))
                        at += of
                    command[name] = found
                rest = rest[size:]
            reply = struct.pack("<IB", 0, 0) + bson.encode(answer(command))
            self.wfile.write(struct.pack("<iiii", 16 + len(reply), 0, request, 2013) + reply)


def start() -> int:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
