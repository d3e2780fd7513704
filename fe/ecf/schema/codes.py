"""The format's code lists, from the XSDs (authority.md#formats).

codes.csv has all but units of measure (units.csv) and places (geography.csv). A list is named as the simple type that
takes its codes (`simple.py`). Currencies are as the authority spells them: `CHY` and `SCP` are not the ISO codes.
Additional taxes: 001-005 other, 006-022 selective by quantity ("específico"), 023-039 by price ("ad valorem").

Places have two digits for the province, two for the municipality and two for the municipal district: `320000` is the
province Santo Domingo, `320100` its municipality Santo Domingo Este, `320101` the district of the same name.
"""

from fe.ecf.data_files import csv_rows
from fe.ecf.schema.model import Code

CODES: dict[str, tuple[Code, ...]] = {}
for _row in csv_rows("ecf/schema/codes.csv"):
    CODES[_row["list"]] = (*CODES.get(_row["list"], ()), Code(_row["value"], _row["en"], _row["es"]))

GEOGRAPHY = tuple(Code(row["code"], row["name"], row["name"]) for row in csv_rows("ecf/schema/geography.csv"))

_UNITS = csv_rows("ecf/schema/units.csv")
UNITS = tuple(Code(row["value"], row["en"], row["es"]) for row in _UNITS)
#: Abbreviations that programs use, folded (`repairs.fold`), and the unit each means.
UNIT_ABBREVIATIONS = {short: row["value"] for row in _UNITS for short in row["abbreviations"].split()}
