"""Write into a project of the workbench, and note each write once it was acknowledged."""

import os

from hierseed.app.project import Project
from hierseed.app.store import documents

FACTS = 150


def main() -> None:
    project = Project("work")
    with open("acknowledged.txt", "ab") as notes:
        for i in range(FACTS):
            if project.get(f"fact {i}") is not None:
                continue
            if i % 10 == 0:
                documents.add(project, [(f"d{i}", f"text number {i}")])
            project.put(f"fact {i}", i)
            notes.write(b"%d\n" % i)
            notes.flush()
            os.fsync(notes.fileno())
    project.close()


if __name__ == "__main__":
    main()
