"""The five workflows: what each makes of its ledger, its status, its evidence, its verbs."""
