"""Ralph: rounds of work against criteria that were agreed before it, each round judged by facts."""
