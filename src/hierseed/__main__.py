"""`python -m hierseed`: the command line where its script is not on the path."""

from hierseed.cli import main

if __name__ == "__main__":
    main()
