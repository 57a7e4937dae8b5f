"""How values and files are encoded: Avro, Puffin, variant, geospatial values, Roaring bitmaps (Appendix A; Puffin)."""
