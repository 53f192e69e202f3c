"""Backend-specific code, and the rewriter that makes each backend's package."""
