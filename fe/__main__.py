"""`python -m fe`: the same as the `fe` command."""

from fe.cli import main

main()
