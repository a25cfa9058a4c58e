"""Pictures of one process: learning, the input pipeline, devices, and profiles of a step."""
