"""Draws explanations: the sectors and banks of a request, the way of the data, the timeline between barriers."""
