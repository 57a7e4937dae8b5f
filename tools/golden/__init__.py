"""The scripts that made the golden files, each with the engine it names in the index beside the files."""
