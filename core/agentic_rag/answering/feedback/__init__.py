"""What people say of runs."""
