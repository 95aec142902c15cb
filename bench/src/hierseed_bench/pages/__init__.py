"""Tables of docs/, filled from records."""
