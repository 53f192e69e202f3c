"""Multi-state models seen at visits: data, a likelihood, and figures of msm."""
