"""Everything the authority would object to that can be known before sending (authority.md#types to #arithmetic).

`check` is the whole: the schema, then the rules the schema cannot say. Each rule's code, texts and ground stand in
`rule.RULES`; those of the schema in `fe.ecf.schema.messages`.
"""

from dataclasses import replace
from datetime import datetime

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, NotADocument
from fe.ecf.money import exact
from fe.ecf.problems import Problem
from fe.ecf.rules.adjustments import check_adjustments
from fe.ecf.rules.amounts import check_amount_indicator, check_amounts, rates_that_apply
from fe.ecf.rules.ancillary import check_acknowledgement, check_approval, check_summary, check_voided
from fe.ecf.rules.assumed import assumptions, of_the_issue_date
from fe.ecf.rules.case import Examination
from fe.ecf.rules.currency import check_currency
from fe.ecf.rules.header import check_dates, check_number, check_payment
from fe.ecf.rules.lines import check_lines
from fe.ecf.rules.pages import check_pages
from fe.ecf.rules.parties import check_parties
from fe.ecf.rules.references import check_references
from fe.ecf.rules.rule import RULES
from fe.ecf.rules.xml_location import line_of
from fe.ecf.schema import validate
from fe.ecf.taxes import RATES, Rates
from fe.ecf.totals import vat_included

__all__ = ["ASSUMPTIONS", "RULES", "apply_rules", "assumptions", "check", "of_the_issue_date"]

#: Remarks on values that were assumed or computed here. They are stored with the signed document, which does not show
#: them.
ASSUMPTIONS = frozenset({"tax-rate-assumed", "exempt-assumed", "total-not-prices", "payments-differ"})


def check(
    document: Document,
    *,
    now: datetime,
    element: etree._Element | None = None,
    is_plain: bool = False,
    rates: Rates = RATES,
) -> list[Problem]:
    """Return every problem of `document`: those of the format first, then those of the rules; none if it is in order.

    `element` is the same document as XML, signed or not, where the caller has it; else it is built. `is_plain` is what
    `build.write` said of it. `now` (with its
    zone) is the moment of judgement. A problem carries an XML line where `element` was read from several lines. Where
    the format already objects to a value, rules on that value's form keep silent.
    """
    tree = element
    problems: list[Problem] = []
    if tree is None:
        try:
            tree = build(document)
        except NotADocument as refused:
            problems += refused.problems
    if tree is not None:
        problems += validate(tree, is_plain=is_plain)
    found = apply_rules(document, now=now, rates=rates)
    if problems and found:
        malformed = {problem.path for problem in problems}
        found = [one for one in found if not (one.path in malformed and RULES[one.code].of_form)]
    if element is not None and found:
        found = [replace(one, line=line_of(element, one.path)) for one in found]
    return problems + found


def apply_rules(document: Document, *, now: datetime, rates: Rates = RATES) -> list[Problem]:
    """Return what the rules object to, without looking at the format: for a document that is valid by its schema.

    Any document may be given; what is missing or malformed is passed over. ValueError when `now` has no time zone.
    """
    case = Examination(document, now, rates)
    if document.root is Root.ECF:
        if document.type is not None:
            _check_ecf(case, document.type)
    elif document.root is Root.RFCE:
        check_summary(case)
    elif document.root is Root.ACECF:
        check_approval(case)
    elif document.root is Root.ANECF:
        check_voided(case)
    else:
        check_acknowledgement(case)
    return case.problems


def _check_ecf(case: Examination, ecf_type: EcfType) -> None:
    check_number(case)
    check_dates(case)
    check_payment(case)
    check_parties(case)
    if "InformacionReferencia" in case.content:
        check_references(case, ecf_type)
    included = vat_included(case.content)
    with exact():
        tally = check_lines(case, ecf_type, rates_that_apply(case))
        check_amount_indicator(case, ecf_type, tally)
        adjust = check_adjustments(case, tally, included)
        check_amounts(case, ecf_type, tally, adjust, included)
        check_currency(case)
        check_pages(case)
