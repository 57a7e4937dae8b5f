"""Sort orders, and how rows compare by them (Sorting)."""
