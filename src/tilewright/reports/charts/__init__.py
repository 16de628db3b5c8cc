"""Charts as SVG: bars of rates, lines over sizes, ratios to a baseline."""
