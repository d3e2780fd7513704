"""Drafts of the form of a receipt: what was typed, and what the page says of it when it is opened again."""

import json
from dataclasses import dataclass
from uuid import UUID

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.texts import Text
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import layout
from fe.portal.visit import Visit
from fe.store.portal import drafts


@dataclass(frozen=True, slots=True)
class OpenDraft:
    """A draft: the form, whether it is shown checked, and with which message and status."""

    entry: ReceiptEntry
    is_checked: bool = False
    message: Text | None = None
    status: int = 200

    def content(self, environment: Environment) -> bytes:
        """The draft as it is stored."""
        message = None if self.message is None else [self.message.en, self.message.es]
        said = {
            "environment": environment.value,
            "type": self.entry.layout.type.value,
            **self.entry.draft(),
            "checked": self.is_checked,
            "message": message,
            "status": self.status,
        }
        return json.dumps(said).encode()


async def save(visit: Visit, draft_id: str, draft: OpenDraft, environment: Environment | None = None) -> None:
    """Keep a draft of the page's environment, or of another. Raises DatabaseUnavailable."""
    content = draft.content(environment or visit.environment)
    person = visit.person.person.person_id
    await visit.portal.db.transact_for(
        visit.tenant_id, drafts.save, visit.tenant_id, person, UUID(draft_id), content, visit.now
    )


async def find(visit: Visit, of: EcfType, draft_id: UUID) -> OpenDraft | None:
    """Find a draft of this type by the current person."""
    found = await visit.read(drafts.find, visit.person.person.person_id, draft_id, visit.now)
    said = None if found is None else json.loads(found)
    if said is None or said["type"] != of.value:
        return None
    message = None if said["message"] is None else Text(*said["message"])
    return OpenDraft(ReceiptEntry.of_draft(layout(of), said), said["checked"], message, said["status"])


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The draft that a new form offers to go on with. `about` is its buyer or its first line."""

    draft_id: UUID
    type: EcfType
    about: str


async def unfinished(visit: Visit) -> Unfinished | None:
    """Find the person's latest draft in this environment."""
    # No typed text has these bytes: JSON escapes its quotation marks.
    says = f'"environment": "{visit.environment.value}"'.encode()
    found = await visit.read(drafts.last, visit.person.person.person_id, says, visit.now)
    if found is None:
        return None
    said = json.loads(found[1])
    entry = ReceiptEntry.of_draft(layout(EcfType(said["type"])), said)
    lines = [row.get("item.NombreItem", "") for row in entry.rows.get("item", [])]
    about = next(filter(None, [entry.values.get("Encabezado.Comprador.RazonSocialComprador", ""), *lines]), "")
    return Unfinished(found[0], entry.layout.type, about)


async def end(visit: Visit, draft_id: str) -> None:
    """Delete a draft."""
    await visit.read(drafts.end, visit.person.person.person_id, UUID(draft_id))
