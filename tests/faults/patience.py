"""Wait for the end of work on a machine of unknown speed: as long as there is progress."""

from collections.abc import Awaitable, Callable, Hashable

import trio

#: Seconds between two looks.
LOOK_SECONDS = 0.5
#: Upper bound of a whole wait, as a multiple of the patience: work that moves in a circle has an end, too.
_MOST = 20


async def settle(
    look: Callable[[], Awaitable[frozenset[Hashable]]], patience: float, tell: Callable[[str], None], what: str
) -> bool:
    """Wait until `look` finds nothing; return False when what it finds is stuck.

    It is stuck when as many looks as fit into `patience` seconds found the same. Looks are counted and not seconds: a
    busy machine stretches both them and the work.
    """
    before, same, looks = None, 0, patience / LOOK_SECONDS
    for _ in range(round(_MOST * looks)):
        left = await look()
        if not left:
            return True
        tell(f"{len(left)} {what} wait")
        same = same + 1 if left == before else 0
        if same > looks:
            return False
        before = left
        await trio.sleep(LOOK_SECONDS)
    return False
