"""The one exception of the package: bad input, told in one line."""


class QaselError(ValueError):
    """Bad input: the message says what is wrong, where, and what to do about it.

    The `qasel` command prints the message as one line on stderr and ends with
    status 2; in Python it is an ordinary `ValueError`.
    """
