from confluent_kafka import Producer
from flask import Flask

app = Flask(__name__)
# librdkafka's mock of a broker, with a latency of 200 ms.
producer = Producer({"test.mock.num.brokers": 1, "test.mock.broker.rtt": 200})


@app.get("/live")
def live():
    return "ok"


@app.get("/orders")
def orders():
    delivered = []
    producer.produce("orders", b"an order", callback=lambda error, message: delivered.append(error is None))
    producer.flush()
    return {"delivered": delivered == [True]}
