"""Fields of a form as a browser sends them."""

import re
from html import unescape
from typing import Any


def filled(page: str, action: str) -> dict[str, Any]:
    """Every field of the form with this action: boxes, ticked boxes, and what is chosen of lists."""
    form = next(each for each in re.findall(r"<form\b.*?</form>", page, re.DOTALL) if f'action="{action}"' in each)
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input\b[^>]*>", form):
        said = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if said.get("type") in ("file", "hidden") or (said.get("type") == "checkbox" and " checked" not in tag):
            continue
        found.setdefault(said["name"], []).append(unescape(said.get("value", "")))
    for name, options in re.findall(r'<select\b[^>]*name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
        found[name] = unescape(chosen[1]) if chosen else ""
    return found
