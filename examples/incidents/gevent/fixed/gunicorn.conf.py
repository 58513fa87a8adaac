bind = "127.0.0.1:8000"
worker_class = "gevent"
workers = 1
