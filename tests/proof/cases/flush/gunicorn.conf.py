worker_class = "gevent"
workers = 1
