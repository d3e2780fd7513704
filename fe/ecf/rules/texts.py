"""Every rule `check` applies beside the schema, by its code. What the schema can say is in `fe.ecf.schema.texts`."""

from collections.abc import Mapping

from fe.ecf.rules import amounts_texts, document_texts
from fe.ecf.rules.rule import Rule

#: In the order in which the documentation lists them.
RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*document_texts.ROWS, *amounts_texts.ROWS)}
