"""Check at import that a library still has its private names that we use."""


def require_private_names(owner: type, *names: str) -> None:
    """See that this release of a library still has these methods of `owner`. Raises ImportError."""
    for name in names:
        if not callable(getattr(owner, name, None)):
            library = owner.__module__.partition(".")[0].capitalize()
            raise ImportError(f"this release of {library} has no {owner.__name__}.{name}: see docs/dependencies.md")
