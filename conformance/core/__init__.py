"""Modules that every part of the tool uses: errors, JSON, output and interrupts."""
