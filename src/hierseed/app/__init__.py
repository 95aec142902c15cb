"""The workbench: from a corpus and a taxonomy to a reviewed result, in a browser.

project.py, schema.py   one SQLite file, and the folder of vectors and fits beside it
store/                  what is read from and written to that file, one module per table
corpus_import.py … export.py  the work itself, each a call that the command line could make
jobs.py, worker.py      long work in a process of its own, with progress and cancel
pages/                  one file per screen: what it shows, and what a click does
web/                    what the browser runs: one script per screen, one style sheet
security.py             who may come in
"""
