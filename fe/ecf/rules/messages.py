"""Every rule `check` applies beside the schema, by its code. What the schema can say is in `fe.ecf.schema.messages`."""

from collections.abc import Mapping

from fe.ecf.rules import amounts_messages, document_messages
from fe.ecf.rules.rule import Rule

#: In the order in which the documentation lists them.
RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*document_messages.ROWS, *amounts_messages.ROWS)}
