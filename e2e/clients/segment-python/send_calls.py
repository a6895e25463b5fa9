"""Tells the story with segment-analytics-python: `send_calls.py <endpoint> <write key> [gzip]`."""

import sys
from datetime import datetime, timezone

from segment.analytics.client import Client

failures = []
client = Client(
    sys.argv[2],
    host=sys.argv[1],
    gzip="gzip" in sys.argv[3:],
    on_error=lambda error, batch: failures.append(error),
)

client.identify(
    "user-1",
    {"email": "ada@example.com", "plan": "pro", "logins": 3, "address": {"city": "Zürich"}},
)
client.track(
    "user-1",
    "Order Completed",
    {"revenue": 12.5, "currency": "EUR", "products": [{"sku": "A-1", "quantity": 2}], "coupon": None},
    timestamp=datetime(2020, 1, 1, tzinfo=timezone.utc),
    context={"ip": "203.0.113.9", "userAgent": "story/1.0"},
    integrations={"All": False, "Webhooks": True},
)
client.page(
    anonymous_id="anon-1",
    category="Docs",
    name="Home",
    properties={"url": "https://shop.example/", "title": "Größe ✓"},
)
client.screen("user-1", name="Main", properties={"tab": "orders"})
client.group("user-1", "group-1", {"name": "Acme", "employees": 42})
client.alias("user-1", "user-2")
client.shutdown()

if failures:
    sys.exit(f"not sent: {failures}")
