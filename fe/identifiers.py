"""A type for each kind of id, so that mypy finds a tenant's id where a user's is expected.

The types cost nothing at run time. An id gets its type where it enters the program: from a request, a row, a command
line. The queue engine knows only tenants: the subject of a row is a plain UUID to it.
"""

from typing import NewType
from uuid import UUID

#: The tenant that owns a row: the first part of every key.
TenantId = NewType("TenantId", int)
#: A tenant's user, who may sign with their own certificate.
UserId = NewType("UserId", UUID)
#: The public part of an API key.
ApiKeyId = NewType("ApiKeyId", str)
#: Stands for the key in submissions made in the portal. No real key has this form.
PORTAL_KEY = ApiKeyId("portal")
#: Stands for the key in submissions of a set of tests (fe/certification).
CERTIFICATION_KEY = ApiKeyId("certification")
CertificateId = NewType("CertificateId", UUID)
#: A number sequence.
SequenceId = NewType("SequenceId", UUID)
#: A submission: the `taxLogId` of the interface. A UUID of version 7, so it contains the time of submission.
SubmissionId = NewType("SubmissionId", UUID)
#: The client's own id of its request: the idempotency key.
ClientRequestId = NewType("ClientRequestId", str)
#: The authority's id of a document that it received.
TrackId = NewType("TrackId", str)
ReplayPlanId = NewType("ReplayPlanId", str)
#: An operator's action.
ActionId = NewType("ActionId", UUID)
#: A person who logs in to the portal.
PersonId = NewType("PersonId", UUID)
