"""What every workflow shares."""
