"""The taxonomy of the small real project: three chapters of Python's library reference."""

CHAPTERS = {
    "Internet": ["email", "http", "urllib", "ftplib", "smtplib"],
    "Numbers": ["decimal", "fractions", "statistics", "random"],
    "Files": ["pathlib", "tarfile", "zipfile", "shutil"],
}
