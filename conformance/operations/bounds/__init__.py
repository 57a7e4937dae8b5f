"""Lower and upper bounds."""
