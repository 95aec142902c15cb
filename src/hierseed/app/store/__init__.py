"""What is read from and written to a project's database: one module per kind of thing."""
