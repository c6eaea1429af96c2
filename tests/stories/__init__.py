"""Stories: what a lazy, a cheating or an honest agent does in one session, and what the user may be told at its end."""
