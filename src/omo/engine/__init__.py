"""One control flow for every workflow: begin a run, see what happened, judge it, record it, end it, tell it."""
