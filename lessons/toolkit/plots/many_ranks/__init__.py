"""Pictures of many ranks: messages, speedups, shares, pipelines, and jobs that resume."""
