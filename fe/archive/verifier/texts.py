"""Words of the verifier, English and Spanish."""

from collections.abc import Mapping

from .faults import FaultCode

Words = tuple[str, str]

CODES: Mapping[FaultCode, Words] = {
    FaultCode.ZIP: (
        "the ZIP file is truncated, was packed again, or is not of the archive's form",
        "el archivo ZIP está truncado, fue empaquetado de nuevo o no tiene la forma del archivo",
    ),
    FaultCode.NAME: ("a file has a name that no package has", "un archivo tiene un nombre que ningún paquete tiene"),
    FaultCode.MANIFEST: (
        "the manifest is missing or is not of the format",
        "el manifiesto falta o no tiene el formato",
    ),
    FaultCode.KEY: (
        "the archive key is not the expected one, or not the manifest's",
        "la clave del archivo no es la esperada o no es la del manifiesto",
    ),
    FaultCode.SIGNATURE_OF_MANIFEST: (
        "the manifest's signature does not hold: it was changed after signing",
        "la firma del manifiesto no es válida: fue modificado después de firmarse",
    ),
    FaultCode.TIME_STAMP: ("the time stamp does not hold", "el sello de tiempo no es válido"),
    FaultCode.FILES: (
        "a file is missing, was added, or is out of order",
        "falta un archivo, sobra uno o están en otro orden",
    ),
    FaultCode.COUNTS: (
        "the manifest's counts or totals are not those of its receipts",
        "los conteos o totales del manifiesto no son los de sus comprobantes",
    ),
    FaultCode.DIGEST: ("a file was changed or exchanged", "un archivo fue modificado o cambiado por otro"),
    FaultCode.XML: ("a document is not readable XML", "un documento no es XML legible"),
    FaultCode.SIGNATURE: ("a document's signature does not hold", "la firma de un documento no es válida"),
    FaultCode.CERTIFICATE: (
        "a signer's certificate was not valid when it signed, or its chain does not hold",
        "el certificado de un firmante no era válido al firmar, o su cadena no es válida",
    ),
    FaultCode.DOCUMENT: (
        "a document is not the one that the manifest describes",
        "un documento no es el que describe el manifiesto",
    ),
    FaultCode.TIMELINE: (
        "the timeline's hash chain does not hold, or contradicts the documents",
        "la cadena de la línea de tiempo no es válida o contradice los documentos",
    ),
    FaultCode.TENANT: (
        "the package is another taxpayer's or another environment's",
        "el paquete es de otro contribuyente o de otro ambiente",
    ),
    FaultCode.SEQUENCE: (
        "packages are missing, repeated or out of order (number before, number of this one)",
        "faltan paquetes, se repiten o están en otro orden (número anterior, número de este)",
    ),
    FaultCode.PREVIOUS: (
        "the manifest does not continue the one before (number before, number of this one)",
        "el manifiesto no continúa el anterior (número anterior, número de este)",
    ),
    FaultCode.TWICE: ("a receipt is in two packages", "un comprobante está en dos paquetes"),
    FaultCode.ADDITION: (
        "an addition names a receipt that no earlier package has",
        "una adición nombra un comprobante que ningún paquete anterior tiene",
    ),
}

WORDS: Mapping[str, Words] = {
    "package": (
        "Package {0}: tenant {1}, {2}, number {3}, {4}",
        "Paquete {0}: contribuyente {1}, {2}, número {3}, {4}",
    ),
    "unreadable": ("Package {0}: cannot be read", "Paquete {0}: no se puede leer"),
    "manifest": ("manifest", "manifiesto"),
    "signature": ("signature", "firma"),
    "certificate": ("certificate", "certificado"),
    "document": ("document", "documento"),
    "timeline": ("timeline", "línea de tiempo"),
    "chain": ("chain", "cadena"),
    "time-stamp": ("time stamp", "sello de tiempo"),
    "ok": ("holds", "conforme"),
    "wrong": ("DOES NOT HOLD", "NO ES VÁLIDO"),
    "none": ("none", "ninguno"),
    "absent": ("not in the archive", "no está en el archivo"),
    "original": ("client's input", "datos originales del cliente"),
    "certificate-chain": ("certifier's certificate", "certificado de la entidad de certificación"),
    "revocation-answer": ("certifier's answer about revocation", "respuesta de la entidad sobre revocación"),
    "addition": ("addition to an earlier package", "adición a un paquete anterior"),
    "fault": ("FAULT", "FALLA"),
    "key": (
        "Archive key {0}. Compare it with the one that the operator published, or give it with --key.",
        "Clave del archivo {0}. Compárela con la que publicó el operador, o indíquela con --key.",
    ),
    "key-ok": ("Archive key {0}: the expected one.", "Clave del archivo {0}: la esperada."),
    "anchor": (
        "The chains end at «{0}». No root was given with --roots, so nothing vouches for it.",
        "Las cadenas terminan en «{0}». No se indicó una raíz con --roots: nada responde por ella.",
    ),
    "stamped": ("time-stamped {0} by «{1}»", "sellado {0} por «{1}»"),
    "revocation": (
        "{0} answers about revocation are in the archive, unchanged; this program does not judge them.",
        "{0} respuestas sobre revocación están en el archivo, sin cambios; este programa no las evalúa.",
    ),
    "of-chain": ("Chain {0}: {1}", "Cadena {0}: {1}"),
    "begins": (
        "The chain begins at number {0}: what came before was not given.",
        "La cadena empieza en el número {0}: lo anterior no fue entregado.",
    ),
    "sum": (
        "Packages: {0}; receipts: {1}; additions: {2}; faults: {3}.",
        "Paquetes: {0}; comprobantes: {1}; adiciones: {2}; fallas: {3}.",
    ),
    "good": ("Everything holds.", "Todo está conforme."),
    "bad": ("NOT everything holds.", "NO todo está conforme."),
    "no-file": ("{0}: cannot be opened", "{0}: no se puede abrir"),
    "no-package": ("no package was given", "no se indicó ningún paquete"),
    "no-roots": ("{0}: no certificates in PEM", "{0}: no hay certificados en PEM"),
}
