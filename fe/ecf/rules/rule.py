"""The rules beyond the schema, by their codes (document.toml, amounts.toml)."""

from collections.abc import Mapping

import msgspec

from fe.ecf.data_files import toml_rows
from fe.ecf.problems import Severity


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule, as the documentation lists it: its code, how grave it is, and what to say in both languages.

    Codes are stable; texts may be reworded. `{...}` in a text is filled in where the problem is found. `source` names
    the ground of the rule: sections of docs/reference/authority.md, or the authority's format document
    (authority.md#sources). A rule whose only ground is the format document, or on which the sources disagree, is
    CONDITIONAL unless that document states it as a validation: it must not stop a receipt the authority would take.
    `of_form`: silent where the schema already objects to the same place.
    """

    code: str
    severity: Severity
    message: str
    message_es: str
    fix: str
    fix_es: str
    source: str
    of_form: bool = False


DOCUMENT_RULES, AMOUNT_RULES = toml_rows("ecf/rules/document.toml", Rule), toml_rows("ecf/rules/amounts.toml", Rule)
#: In the order in which the documentation lists them.
RULES: Mapping[str, Rule] = DOCUMENT_RULES | AMOUNT_RULES
