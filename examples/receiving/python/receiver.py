# Run it: WEBHOOK_SECRET='…' PORT=8000 python3 receiver.py
import base64
import hashlib
import hmac
import json
import os
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
MAX_BODY_BYTES = 512_000
TOLERANCE_SECONDS = 300

# In a real receiver: a table or a queue on disk. What waits here is lost when the program ends.
inbox = queue.Queue(maxsize=10_000)


def has_webhook_signature(headers, body):
    """HMAC-SHA256 over id, time and body. There are two signatures while a secret is being replaced."""
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()
    digest = hmac.digest(key, f"{message_id}.{sent_at}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, expected) for signature in signatures)


def has_x_signature(headers, body):
    """HMAC-SHA1 over the body alone."""
    expected = hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()
    return hmac.compare_digest(headers.get("X-Signature", "").encode(), expected.encode())


# Keep the check that you use and take out the other one.
CHECKS = {"/webhooks": has_webhook_signature, "/webhooks-sha1": has_x_signature}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self):
        self.send_response(self.receive())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        """The status to answer with."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return 413
        body = self.rfile.read(int(length))
        is_genuine = CHECKS.get(self.path)
        if is_genuine is None:
            return 404
        if not is_genuine(self.headers, body):
            return 401
        try:
            inbox.put_nowait((self.headers["webhook-id"], body))
        except queue.Full:
            return 503  # Millrace comes back later.
        return 200

    def log_message(self, *args):
        pass


def work():
    """Runs beside the answers: it may take its time."""
    seen = set()
    while True:
        message_id, body = inbox.get()
        if message_id in seen:
            continue
        seen.add(message_id)
        event = json.loads(body)
        print(message_id, event["type"], flush=True)


threading.Thread(target=work, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
print("listening on", server.server_port, flush=True)
server.serve_forever()
