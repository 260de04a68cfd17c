"""The paper's losses (equations 6, 8 and 9), and AP: shared, and kept under this name too."""

from qasel.training.losses import ap_loss, list_loss, pair_loss, point_loss

__all__ = ["ap_loss", "list_loss", "pair_loss", "point_loss"]
