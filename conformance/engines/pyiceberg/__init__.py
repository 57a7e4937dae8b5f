"""All about PyIceberg."""
