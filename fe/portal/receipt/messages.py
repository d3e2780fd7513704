"""Messages of the pages of new receipts."""

from fe.ecf.texts import Text

DISABLED = Text(
    "The company is disabled: nothing is issued for it.", "La empresa está desactivada: no se emite nada por ella."
)
NOT_KNOWN = Text(
    "The database cannot be reached now, and it is not known whether the receipt was issued. Press Issue again in a "
    "moment: it is issued once.",
    "En este momento no se alcanza la base de datos y no se sabe si el comprobante se emitió. Presione Emitir de nuevo "
    "en un momento: se emite una sola vez.",
)
NOT_NOW = Text(
    "The database cannot be reached now. Nothing was issued, and what you typed is here: try again in a moment.",
    "No se alcanza la base de datos ahora. No se emitió nada y lo que escribió está aquí: intente de nuevo en "
    "un momento.",
)
TOO_MANY = Text(
    "The company has handed in as many receipts as it may for now: try again later.",
    "La empresa ya envió todos los comprobantes que puede por ahora: intente más tarde.",
)
NOTHING_DONE = Text(
    "The receipt was not issued: see what is wrong with it below.",
    "El comprobante no se emitió: vea abajo lo que hay que corregir.",
)
REMARKED = Text(
    "The authority would accept this with remarks. Look at them, and issue it once more if that is what you want.",
    "La DGII lo aceptaría con observaciones. Revíselas y emita otra vez si eso es lo que quiere.",
)


def no_number(reason: str, prefix: str) -> Text:
    """Say why no number can be drawn, and what to do first; `reason` is that of NoNumber."""
    if reason == "expired":
        return Text(
            f"The sequence {prefix} has expired: set up a new one before you issue.",
            f"La secuencia {prefix} está vencida: configure una nueva antes de emitir.",
        )
    if reason == "used up":
        return Text(
            f"There are no {prefix} numbers left: set up a new range before you issue.",
            f"No quedan números {prefix}: agregue un rango antes de emitir.",
        )
    return Text(
        f"There is no active sequence {prefix}: set one up before you issue.",
        f"No hay una secuencia {prefix} activa: configure una antes de emitir.",
    )


LOOK_OVER = Text(
    "This is a real receipt with fiscal value, and not issued yet. Look at the total below, and press Issue if it is "
    "right.",
    "Este es un comprobante real, con valor fiscal, y todavía no se ha emitido. Revise el total abajo y presione "
    "Emitir si está correcto.",
)
NO_DRAFT = Text(
    "That form is no longer kept: start a new one.", "Ese formulario ya no se conserva: comience uno nuevo."
)
ISSUED_BEFORE = Text(
    "This receipt was issued before: it was issued once.", "Este comprobante ya se emitió: una sola vez."
)


_ISSUED = Text(
    "the receipt is issued; it is being signed and sent.", "el comprobante se emitió; se está firmando y enviando."
)


def issued(e_ncf: str | None, remark: Text | None) -> Text:
    """Say that it is on its way, and what its number did to the sequence."""
    said = _ISSUED
    if e_ncf is not None:
        said = Text(f"{e_ncf}: {_ISSUED.en}", f"{e_ncf}: {_ISSUED.es}")
    return said if remark is None else Text(f"{said.en} {remark.en}.", f"{said.es} {remark.es}.")


def issued_otherwise(e_ncf: str | None) -> Text:
    """Say that what was changed in a form after it had been issued is not issued."""
    number = e_ncf or ""
    return Text(
        f"This form was issued before, as {number}, and you have changed it since. What you see was not issued. "
        "If you want another receipt, press Issue again.",
        f"Este formulario ya se emitió, como {number}, y usted lo cambió después. Lo que ve no se emitió. "
        "Si quiere otro comprobante, presione Emitir de nuevo.",
    )


def issued_by_nobody_here(email: str) -> Text:
    """Say that a receipt was issued for a user who is gone, so that the form cannot begin with that one."""
    return Text(
        f"That receipt was issued by {email}, who is no longer a user of the company: choose who issues this one.",
        f"Ese comprobante lo emitió {email}, que ya no es usuario de la empresa: elija quién emite este.",
    )
