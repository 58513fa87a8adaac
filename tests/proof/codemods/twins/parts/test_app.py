import asyncio
import http.server
import threading

import app


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"title")

    def log_message(self, *_: object) -> None: ...


def test_answer() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert asyncio.run(app.answer(f"http://127.0.0.1:{server.server_address[1]}/")) == "title"
    server.shutdown()
