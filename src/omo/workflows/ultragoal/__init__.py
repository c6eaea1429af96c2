"""Durable goals of one session: a plan, a ledger that is the truth, and receipts that alone close a goal."""
