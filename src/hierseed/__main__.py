"""`python -m hierseed`: the command line where its script is not on the path."""

from hierseed.cli import run

if __name__ == "__main__":
    run()
