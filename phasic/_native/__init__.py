"""The native libraries; empty on platforms without them."""
