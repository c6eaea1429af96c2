"""May this session stop? What is looked at, the rules in their order, and what is said. Hooks and views ask it."""
