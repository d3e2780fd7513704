"""`fe agent` with a clock that a file sets: `python -m tests.agent.wrong_clock FILE run FOLDER`. FILE has seconds."""

import sys
from datetime import datetime, timedelta
from pathlib import Path

from fe.clock import system_clock
from fe.integrator.agent.agent import Agent
from fe.integrator.agent.commands import agent


def main() -> None:
    """Run the command with the clock of the file."""
    file = Path(sys.argv.pop(1))

    def clock() -> datetime:
        return system_clock() + timedelta(seconds=float(file.read_text() or 0))

    defaults = Agent.__init__.__kwdefaults__
    assert defaults is not None
    defaults["clock"] = clock
    agent()


if __name__ == "__main__":
    main()
