"""What cannot be written once: the rewriter and the hand-written seams."""
