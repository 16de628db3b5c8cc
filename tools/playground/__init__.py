"""The playground: `explain` in a browser, without a server. `python -m tools.playground build OUT` writes the static pages."""
