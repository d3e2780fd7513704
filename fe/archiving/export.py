"""The whole archive of a tenant, to hand over: every package and time stamp, the verifier, and a protocol."""

import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

import trio

from fe.archive.package import package_name
from fe.archive.program import FILE_NAME, build_verifier
from fe.archiving.checking import find_missing
from fe.archiving.packing import manifest_location, stamp_location
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.objects.storage import ObjectStore
from fe.objects.streaming import begin_stream
from fe.store.postgres.db import Database
from fe.store.records import archive, archive_handovers
from fe.store.records.archive import Package, PackageChain
from fe.store.records.archive_handovers import ArchiveHandover
from fe.store.records.tenants import Tenant

PROTOCOL = "PROTOCOLO.txt"
_PAGE = 200
_NAMES = {Environment.ECF: "producción", Environment.CERTECF: "certificación", Environment.TESTECF: "pruebas"}
_KINDS = {"issued": "Emitidos", "received": "Recibidos", "voided": "Anulaciones"}


@dataclass
class _Group:
    """Entries of one kind, type and status."""

    count: int = 0
    total: Decimal = Decimal()
    first: str = ""
    last: str = ""

    def add(self, entry: Mapping[str, Any]) -> None:
        self.count += 1
        self.total += Decimal(entry["total"] or 0)
        number = entry["eNCF"] or ""
        self.first = min(self.first or number, number)
        self.last = max(self.last, number)


@dataclass
class _ChainProtocol:
    """Lines and sums of the protocol for one environment."""

    packages: list[str] = field(default_factory=list)
    groups: dict[tuple[str, str, str], _Group] = field(default_factory=dict)
    receipts: int = 0
    additions: int = 0
    head: Package | None = None
    not_archived: int = 0


@dataclass
class WholeArchive:
    """Reads everything of a tenant. `faults` are known when `chunks` has ended: with any, nothing was handed over."""

    db: Database
    store: ObjectStore
    tenant: Tenant
    by_whom: str
    at: datetime
    faults: list[str] = field(default_factory=list)
    handover: ArchiveHandover | None = None
    _chains: dict[Environment, _ChainProtocol] = field(default_factory=dict)

    async def chunks(self) -> AsyncGenerator[tuple[str, bytes], None]:
        """Yield the files in parts, each with its name; the protocol is the last. Raises StorageError."""
        for environment in Environment:
            chain = self._chains[environment] = _ChainProtocol()
            below = 0
            while page := await self._page(environment, below):
                for package in page:
                    async for part in self._package(chain, package):
                        yield part
                below = page[-1].number
            of = PackageChain(self.tenant.tenant_id, environment)
            chain.not_archived = (await find_missing(self.db, of, None, self.at)).count
        yield FILE_NAME, await trio.to_thread.run_sync(build_verifier)
        protocol = self._protocol().encode()
        yield PROTOCOL, protocol
        self.handover = ArchiveHandover(
            self.tenant.tenant_id,
            self.at,
            self.by_whom,
            hashlib.sha256(protocol).digest(),
            {
                str(environment): {"number": chain.head.number, "manifest": (chain.head.manifest or b"").hex()}
                for environment, chain in self._chains.items()
                if chain.head is not None
            },
            sum(len(chain.packages) for chain in self._chains.values()),
            sum(chain.receipts for chain in self._chains.values()),
        )
        if not self.faults:
            await self._run(archive_handovers.note, self.handover)

    @property
    def not_archived(self) -> int:
        """Receipts and voidings that ended and are in no package."""
        return sum(chain.not_archived for chain in self._chains.values())

    async def _run(self, work: Any, *arguments: Any) -> Any:
        return await self.db.run_for(self.tenant.tenant_id, work, *arguments)

    async def _page(self, environment: Environment, above: int) -> list[Package]:
        found: list[Package] = await self._run(partial(archive.listed_from, limit=_PAGE), environment, above)
        return found

    async def _package(self, chain: _ChainProtocol, package: Package) -> AsyncGenerator[tuple[str, bytes], None]:
        assert package.location is not None
        name = f"{package.environment}/{package_name(package.tenant_id, package.environment, package.number)}"
        hashed, size = hashlib.sha256(), 0
        async for part in await begin_stream(self.store, package.location):
            hashed.update(part)
            size += len(part)
            yield name, part
        if package.stamped_at is not None:
            async for part in await begin_stream(self.store, stamp_location(package.location)):
                yield f"{name.removesuffix('.zip')}.tst", part
        if hashed.digest() != package.digest:
            self.faults.append(f"{name}: otra huella que la registrada")
        raw = b"".join([part async for part in await begin_stream(self.store, manifest_location(package.location))])
        if hashlib.sha256(raw).digest() != package.manifest:
            self.faults.append(f"{name}: otro manifiesto que el registrado")
        else:
            await trio.to_thread.run_sync(_count, chain, raw)
        chain.packages.append(
            f"{name.partition('/')[2]}  {package.day}  {package.receipts}  {package.additions}  {size}  "
            f"{hashed.hexdigest()}  {'sí' if package.stamped_at else 'no'}"
        )
        chain.head = package

    def _protocol(self) -> str:
        tenant = self.tenant
        lines = [
            "PROTOCOLO DE ENTREGA DEL ARCHIVO",
            "",
            f"Contribuyente: {tenant.name} (número {tenant.tenant_id} de la instalación)",
            f"Fecha: {self.at.astimezone(ZONE):%d-%m-%Y %H:%M:%S} (Santo Domingo)",
            f"Entregado por: {self.by_whom}",
            "",
        ]
        for environment, chain in self._chains.items():
            if not chain.packages and not chain.not_archived:
                continue
            lines += [
                f"AMBIENTE {environment} ({_NAMES[environment]})",
                f"Paquetes: {len(chain.packages)}. Documentos: {chain.receipts}. Adiciones: {chain.additions}.",
                f"Terminados que no están en el archivo: {chain.not_archived}.",
                "",
                "Clase  tipo  estado  cantidad  suma de MontoTotal  primer e-NCF  último e-NCF",
                *(
                    f"{_KINDS[kind]}  {ecf_type or '-'}  {status or '-'}  {one.count}  {one.total:.2f}  "
                    f"{one.first or '-'}  {one.last or '-'}"
                    for (kind, ecf_type, status), one in sorted(chain.groups.items())
                ),
                "",
                "Paquete  día  documentos  adiciones  bytes  SHA-256  sello de tiempo",
                *chain.packages,
                "",
            ]
        if self.faults:
            lines += ["FALLAS: esta entrega NO está completa", *self.faults, ""]
        lines += [
            f"Compruebe la entrega con: python3 {FILE_NAME} --lang es --quiet .",
            "Conserve todo durante diez años desde el fin del año de emisión. La huella SHA-256 de este protocolo",
            "identifica la entrega.",
            "",
        ]
        return "\n".join(lines)


def _count(chain: _ChainProtocol, raw: bytes) -> None:
    for entry in json.loads(raw)["receipts"]:
        if entry["addition"]:
            chain.additions += 1
            continue
        chain.receipts += 1
        group = entry["kind"], entry["type"] or "", entry["status"] or ""
        chain.groups.setdefault(group, _Group()).add(entry)
