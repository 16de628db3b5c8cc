"""Makes tables, plots and pages from records alone, so that they can be rebuilt on any machine."""
