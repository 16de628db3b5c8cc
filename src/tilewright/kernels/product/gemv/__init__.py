"""Products for any GPU where C has few columns or rows: matrix times vector, and a little more."""
