"""Write the pictures of the examples into the folder `pictures`, or into $HIERSEED_PICTURES."""

import os
from pathlib import Path


def show(figure, name):
    """Write a figure; a notebook also shows it."""
    folder = Path(os.environ.get("HIERSEED_PICTURES", "pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=140, bbox_inches="tight")
    return figure
