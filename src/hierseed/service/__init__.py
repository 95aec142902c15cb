"""A fitted model behind HTTP: `hierseed serve MODEL --api`.

placing.py        texts to JSON, one request at a time
guard.py          who may come in, and with how much
server.py         our own interface under /api, errors as data, the OpenAPI description
annif.py          Annif's REST interface under /v1
label_studio.py   Label Studio's ML-backend protocol
serving.py        start it
"""
