"""A fitted model behind HTTP: `hierseed serve MODEL --api`.

topic_service.py  texts to JSON, one request at a time
access.py         token, host name and size of requests
server.py         our own interface under /api, errors as data, the OpenAPI description
annif.py          Annif's REST interface under /v1
label_studio.py   Label Studio's ML-backend protocol
start.py          start the server
"""
