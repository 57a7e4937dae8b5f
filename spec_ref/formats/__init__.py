"""How values stand in files of each format (Appendix A; Puffin; variant; geospatial bounds)."""
