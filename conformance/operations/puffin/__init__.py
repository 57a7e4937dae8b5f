"""Puffin files, deletion vectors and Theta sketches."""
