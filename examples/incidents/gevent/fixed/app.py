"""The service, mended: a thread of gevent's pool waits for the broker."""

import gevent
from confluent_kafka import Producer
from flask import Flask, request

app = Flask(__name__)
producer = Producer({"test.mock.num.brokers": 1, "test.mock.broker.rtt": 100})


@app.post("/orders")
def order():
    producer.produce("orders", request.get_data())
    gevent.get_hub().threadpool.apply(producer.flush)
    return {"status": "sent"}


@app.get("/live")
def live():
    return {"status": "ok"}
