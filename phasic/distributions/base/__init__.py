"""The class `Distribution`: the contract all distributions share."""
