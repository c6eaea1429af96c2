"""A run on one page, for somebody who was not there: gathered once, written as HTML or as Markdown."""
