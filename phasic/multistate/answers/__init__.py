"""What fitted multi-state models say."""
