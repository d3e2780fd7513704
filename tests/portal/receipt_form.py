"""The form of a receipt as a browser has it: every field with its value, in order, and buttons to press."""

from dataclasses import dataclass, field
from typing import Any

import httpx
from lxml import html

from tests.portal.running import Browser


def _found(page: str, path: str) -> list[Any]:
    found = html.fromstring(page).xpath(path)
    assert isinstance(found, list)
    return found


@dataclass
class ReceiptForm:
    """A form that is shown, and what a person types into it."""

    browser: Browser
    path: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""
    status: int = 0
    url: httpx.URL | None = None

    @classmethod
    async def open(cls, browser: Browser, path: str) -> "ReceiptForm":
        form = cls(browser, path)
        form._show(await browser.get(path))
        form.path = form._action() or path
        return form

    def _action(self) -> str:
        found = _found(self.text, '//form[contains(@class, "receipt")]/@action')
        return str(found[0]) if found else ""

    def _show(self, page: httpx.Response) -> None:
        self.text, self.status, self.url = page.text, page.status_code, page.url
        self.fields = []
        fields = "[self::input or self::select or self::textarea][not(ancestor::template)]"
        for one in _found(self.text, '//form[contains(@class, "receipt")]//*' + fields):
            if one.get("type") == "radio" and one.get("checked") is None:
                continue
            if one.tag == "select":
                chosen = one.xpath(".//option[@selected]") or one.xpath(".//option[1]")
                value = chosen[0].get("value", "")
            elif one.tag == "textarea":
                value = (one.text or "").removeprefix("\n")
            elif one.get("type") == "checkbox" and one.get("checked") is None:
                value = ""
            else:
                value = one.get("value", "")
            self.fields.append((one.get("name"), value))

    def type(self, name: str, value: str, row: int = 1) -> None:
        """Type into a field, or choose of a list; `row` counts those of the same name."""
        places = [place for place, (one, _) in enumerate(self.fields) if one == name]
        assert len(places) >= row, f"the form has no {name} number {row}: it has {sorted({n for n, _ in self.fields})}"
        self.fields[places[row - 1]] = (name, value)

    def value(self, name: str, row: int = 1) -> str:
        return [value for one, value in self.fields if one == name][row - 1]

    def rows(self, name: str) -> int:
        return sum(one == name for one, _ in self.fields)

    def problems(self) -> list[str]:
        """The list of problems above the form."""
        found = _found(self.text, '//section[@id="checked"]/ul/li')
        return [" ".join("".join(one.itertext()).split()) for one in found]

    def sent(self, button: str) -> dict[str, list[str]]:
        sent: dict[str, list[str]] = {"do": [button]}
        for name, value in self.fields:
            sent.setdefault(name, []).append(value)
        return sent

    async def press(self, button: str) -> httpx.Response:
        """Press a button: where that leads is shown."""
        page = await self.browser.client.post(self.path, data=self.sent(button), follow_redirects=True)
        self._show(page)
        return page

    def totals(self) -> dict[str, str]:
        found = _found(self.text, "//dd[@data-total]")
        return {one.get("data-total"): one.text.replace(",", "") for one in found}

    def problems_at(self, name: str, row: int | None = None) -> list[str]:
        """Return the message beside a field."""
        field_id = name if row is None else f"{name}-{row}"
        return [one.text_content().strip() for one in _found(self.text, f'//p[starts-with(@id, "w-{field_id}-")]')]

    def buttons(self, starting: str) -> list[str]:
        found = _found(self.text, f'//button[@name="do" and starts-with(@value, "{starting}")]/@value')
        return [str(one) for one in found]
