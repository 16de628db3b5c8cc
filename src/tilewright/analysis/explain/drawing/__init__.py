"""Draws explanations: the sectors and banks of a request, the path of the data, the timeline between barriers."""
