"""What fills the tables of docs/."""
