"""The package's only exception: bad input, explained in one line."""


class QaselError(ValueError):
    """Bad input: the message says what is wrong, where, and what to do about it.

    The `qasel` command prints the message as one line on stderr and exits with status 2; in Python
    it is an ordinary `ValueError`.
    """
