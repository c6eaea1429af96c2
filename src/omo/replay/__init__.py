"""A saved transcript through the hooks: what each would decide. On a scratch project; nothing in it is executed."""
