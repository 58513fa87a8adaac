import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import app


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"rate": 1.5}' if self.path == "/rates?name=eur" else b'{"rate": 0}')

    def log_message(self, *_: object) -> None:
        pass


def test_show() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert asyncio.run(app.show(f"http://127.0.0.1:{server.server_port}")) == 1.5
    server.shutdown()
