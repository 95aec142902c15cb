"""Reading and writing a project's database: a module for each kind of record."""
