"""The scripts that made the golden files, each with the engine that is named in the index beside the files."""
