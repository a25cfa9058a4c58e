"""Pictures of one process: learning, its input, its devices and its milliseconds."""
