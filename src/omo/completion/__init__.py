"""Completion for shells: the command's own parsers as a table, and that table in the words of each shell."""
