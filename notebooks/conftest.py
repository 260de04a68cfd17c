"""What the checks of the notebooks share."""


def pytest_collection_modifyitems(items) -> None:
    """Give a kernel a minute to hand over its outputs: nbval's five seconds may pass on a busy
    machine after a cell that trains.
    """
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = 60
