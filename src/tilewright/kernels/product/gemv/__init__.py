"""Products for any GPU where C has few columns or rows: matrix times vector, and a little more.

There are two main loops: rows.cl for an A that lies along k, and columns.cl for one that lies down its columns.
"""
