"""Pictures of a fitted model, drawn with matplotlib; the methods of `TextModel` call them."""
