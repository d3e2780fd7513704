"""Which language a page is in, by its small words: what was forgotten to be translated gives itself away by them."""

import re
from typing import Any

from tests.portal.browser.looking import Seen

#: Words of one language that are none of the other's, nor parts of names that both show.
_ENGLISH = """
    the and of with your this that from not are was were which who have has been to is it or by an you for when
    what there their they here again since until more than does did will would can cannot must should new all
    none each other only any some day days month name date address receipt receipts company people user users
    key keys sequence sequences back save delete remove edit search find show sent next last first yes left
    right log out up down type amount buyer issuer accepted rejected waiting failed pending
"""
_SPANISH = """
    el la los las del que para por una su sus se al son está están fue este esta estos estas ese esa como más
    pero cuando donde quien desde hasta sin sobre ya todavía aún nada nadie cada otro otra todo todos todas
    puede pueden debe hay día días mes nombre fecha correo comprobante comprobantes empresa personas usuario
    clave claves secuencia secuencias guardar eliminar quitar buscar mostrar enviar siguiente último sí aceptado
    rechazado falló pendiente
"""
#: What is the same in both: addresses, kinds of events, places with their code, names of the demonstration, and words
#: of the DGII's own portal.
_SAID_IN_BOTH = re.compile(
    r"[\w.+-]+@[\w.-]+|https?://\S+|GET /\S+|\b[a-z]+\.[a-z]+\b|^.*\(\d{6}\)$|30 días"
    r"|Calle El Conde 12, Ciudad Colonial|Río Ozama[^·]*|Brisas del Yaque[^·]*|Altagracia Demostración"
    r"|Usuario Administrador e-CF|ENVIAR PRUEBA DE COMPROBANTES"
)
_WORD = re.compile(r"[^\W\d_]+")
#: Texts of a page, and what stands for one: but for codes, names, and what is said to be in another language.
_READ = """
() => {
  const found = [document.title];
  const seen = new Set(["CODE", "PRE", "BDI", "SCRIPT", "STYLE", "TEMPLATE", "TEXTAREA", "NOSCRIPT"]);
  const apart = (one) => { for (; one && one !== document.documentElement; one = one.parentElement)
    if (seen.has(one.tagName) || one.lang || one.translate === false) return true; return false; };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (!apart(texts.currentNode.parentElement)) found.push(texts.currentNode.textContent);
  for (const name of ["aria-label", "placeholder", "title", "alt", "data-confirm", "data-yes", "data-copied"])
    for (const one of document.querySelectorAll(`[${name}]`)) if (!apart(one)) found.push(one.getAttribute(name));
  return found.map((text) => text.trim()).filter((text) => text);
}
"""


def told(seen: Seen) -> list[str]:
    """All texts of the page."""
    found: list[str] = seen.page.evaluate(_READ)
    assert len(found) > 5
    return found


def foreign(seen: Seen, language: str, names: tuple[str, ...] = ()) -> list[Any]:
    """Return the page's texts in the other language; `names` are typed texts."""
    other = set((_SPANISH if language == "en" else _ENGLISH).split())
    assert seen.page.locator("html").get_attribute("lang") == language
    wrong = []
    for text in told(seen):
        plain = _SAID_IN_BOTH.sub(" ", text)
        for name in names:
            plain = plain.replace(name, " ")
        if words := other & {word.lower() for word in _WORD.findall(plain)}:
            wrong.append((text[:120], sorted(words)))
    return wrong
