"""Names of browsers and their systems, as a list of sessions shows them. Pure."""

from fe.ecf.texts import Text

#: Parts of a User-Agent header, and names. The first match counts, since browsers also name others.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> Text | str:
    """Name a browser and its system (`Chrome on Android`); an unknown one by its header."""
    browser = next((name for sign, name in _BROWSERS if sign in user_agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), None)
    if browser is None or system is None:
        return user_agent or Text("unknown", "desconocido")
    return Text(f"{browser} on {system}", f"{browser} en {system}")
