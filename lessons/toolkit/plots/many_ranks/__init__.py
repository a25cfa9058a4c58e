"""Pictures of many ranks: messages, speedup, shares, pipelines, and jobs that come back."""
