"""What a ready call returns if its arrays must go the general way."""

REFUSED = object()
