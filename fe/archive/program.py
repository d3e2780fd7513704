"""Build the verifier as one file for any Python from 3.11 on: the files of `fe.archive.verifier`, and nothing else."""

import io
import sys
from importlib.resources import files
from pathlib import Path

from fe.archive.zip_writer import ZipWriter

FILE_NAME = "fe-verify-archive.pyz"
_PACKAGE = "fe_verify_archive"
_START = f"import sys\n\nfrom {_PACKAGE}.main import main\n\nsys.exit(main())\n"


def build_verifier() -> bytes:
    """Return the program; the same sources give the same bytes. Run it with `python3 fe-verify-archive.pyz`."""
    sink = io.BytesIO()
    archive = ZipWriter(sink)
    archive.add("__main__.py", _START.encode())
    sources = (one for one in files("fe.archive.verifier").iterdir() if one.name.endswith(".py"))
    for source in sorted(sources, key=lambda one: one.name):
        archive.add(f"{_PACKAGE}/{source.name}", source.read_bytes())
    archive.close()
    return sink.getvalue()


def main(folder: str) -> None:
    """Write the program into a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / FILE_NAME).write_bytes(build_verifier())


if __name__ == "__main__":
    main(*sys.argv[1:])
