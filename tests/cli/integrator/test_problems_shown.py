"""Every problem code as the commands of integrators print it."""

import pytest

from fe.ecf.problems import Problem, Repair, serialize_problem
from fe.ecf.rules.rule import RULES
from fe.ecf.schema.messages import MESSAGES
from fe.integrator.options import print_problems

REPAIRS = [
    None,
    Repair("set", "Encabezado", value="1"),
    Repair("rename", "Encabezado", to="Otro"),
    Repair("remove", "Encabezado"),
]


@pytest.mark.parametrize("code", [*MESSAGES, *RULES])
def test_problem_of_every_code_prints_its_message_whatever_it_leaves_out(
    code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for found in (None, "9"):
        for expected in (None, "a number"):
            for repair in REPAIRS:
                problem = Problem(
                    code,
                    "Encabezado.IdDoc",
                    "the message",
                    "el mensaje",
                    line=None if found is None else 3,
                    found=found,
                    expected=expected,
                    repair=repair,
                )
                print_problems([serialize_problem(problem)])
                printed = capsys.readouterr().out
                assert f"Encabezado.IdDoc{':3' if found else ''}  {code}" in printed
                assert "the message" in printed
                assert ("'9'" in printed) is (found is not None)
                assert (repair is None) is ("Otro" not in printed and "set" not in printed and "remove" not in printed)
