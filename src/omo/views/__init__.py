"""What people see: one resolver, and the views that are drawn from it."""
