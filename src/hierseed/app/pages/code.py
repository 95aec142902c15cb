"""Code: a sample that several people code, agreement, and the accuracy it shows."""

from __future__ import annotations

from typing import Any

from hierseed.app.pages.screen import Screen


class CodeScreen(Screen):
    """Step 6."""

    name, title = "code", "Validate"

    def view(self) -> dict[str, Any]:
        """Show the samples."""
        return {}
