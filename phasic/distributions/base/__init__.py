"""The class `Distribution`: the contract that all distributions share."""
