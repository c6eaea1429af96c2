"""How things stand, on a screen: a line below the prompt, a terminal, a pipe."""
