"""What every part of the tool needs: errors, JSON, output, and how to stop."""
