"""The commands of `hierseed bench`, by what they do: make runs, show results, check them."""
