"""What counts as proof: commands run for real, and the tree they ran on."""
