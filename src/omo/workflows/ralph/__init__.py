"""A loop with an independent judge: criteria that were pinned before the work, judged by facts every time round."""
