"""Build the connectors' packages: `python -m connectors.build dist`.

The WooCommerce plugin becomes a ZIP that WordPress installs: the plugin, the PHP client, and its translations compiled.
`python -m connectors.build --texts` collects the texts to translate into the plugin's template.
"""

import re
import struct
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLUGIN = "fe-ecf-woocommerce"
WOOCOMMERCE = HERE / "woocommerce"
TEMPLATE = WOOCOMMERCE / "languages" / f"{PLUGIN}.pot"
CLIENT = HERE.parent / "clients" / "php"
#: No file of the ZIP carries the moment of its making: the same sources give the same bytes.
_MOMENT = (2026, 1, 1, 0, 0, 0)
_TEXT = re.compile(rf"(?:__|esc_html__)\(\s*'((?:[^'\\]|\\.)*)',\s*'{PLUGIN}'", re.DOTALL)
_ENTRY = re.compile(r'^msgid "(.*)"\nmsgstr "(.*)"$', re.MULTILINE)
_HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'


def texts() -> list[str]:
    """Return the plugin's texts in their order, each once."""
    found: dict[str, None] = {}
    for file in sorted(WOOCOMMERCE.rglob("*.php")):
        for text in _TEXT.findall(file.read_text(encoding="utf-8")):
            found[text.replace("\\'", "'")] = None
    return list(found)


def template() -> str:
    """Return the template (.pot) of the translations."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts())
    return _HEADER + "".join(f'\nmsgid "{text}"\nmsgstr ""\n' for text in quoted)


def translations(po: str) -> dict[str, str]:
    """Read a .po file whose texts have one line each."""
    plain = {}
    for text, translated in _ENTRY.findall(po):
        if text:
            plain[_unquoted(text)] = _unquoted(translated)
    return plain


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def compiled(po: str) -> bytes:
    """Compile a .po file to the form (.mo) that WordPress reads: two tables of lengths and offsets, then texts."""
    pairs = {"": "Content-Type: text/plain; charset=UTF-8\n"} | translations(po)
    rows = sorted((text.encode(), translated.encode()) for text, translated in pairs.items())
    tables, content = [b"", b""], b""
    start = 28 + 16 * len(rows)
    for column in (0, 1):
        for row in rows:
            tables[column] += struct.pack("<II", len(row[column]), start + len(content))
            content += row[column] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(rows), 28, 28 + 8 * len(rows), 0, 28 + 16 * len(rows))
    return head + tables[0] + tables[1] + content


def woocommerce(folder: Path) -> Path:
    """Write the plugin's ZIP into a folder, and return its path."""
    files = {file.relative_to(WOOCOMMERCE): file.read_bytes() for file in WOOCOMMERCE.rglob("*") if file.is_file()}
    for po in (WOOCOMMERCE / "languages").glob("*.po"):
        files[Path("languages", f"{po.stem}.mo")] = compiled(po.read_text(encoding="utf-8"))
    # The plugin sends and reads arrays: it uses none of the types.
    sources = [file for file in (CLIENT / "src").iterdir() if file.name != "Types.php"]
    for file in (CLIENT / "autoload.php", CLIENT / "LICENSE", *sources):
        files[Path("fe-client", file.relative_to(CLIENT))] = file.read_bytes()
    made = folder / f"{PLUGIN}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(str(Path(PLUGIN, name)), _MOMENT), files[name], zipfile.ZIP_DEFLATED)
    return made


if __name__ == "__main__":
    if sys.argv[1:] == ["--texts"]:
        TEMPLATE.write_text(template(), encoding="utf-8")
    else:
        sys.stdout.write(f"{woocommerce(Path(*sys.argv[1:]))}\n")
