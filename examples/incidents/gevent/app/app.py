"""A service that sends an event for each order. `gunicorn app:app`, then order and ask for /live at once."""

from confluent_kafka import Producer
from flask import Flask, request

app = Flask(__name__)
# librdkafka has brokers of its own for a try: no Kafka is needed.
producer = Producer({"test.mock.num.brokers": 1, "test.mock.broker.rtt": 100})


@app.post("/orders")
def order():
    producer.produce("orders", request.get_data())
    producer.flush()
    return {"status": "sent"}


@app.get("/live")
def live():
    return {"status": "ok"}
