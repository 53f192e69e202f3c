"""A module that omits one of its parts in JAX, see tests/BUILD."""

from tests.shared.build_rules import build_rules_everywhere
from tests.shared.build_rules import build_rules_not_in_jax

__all__ = ["build_rules_everywhere", "build_rules_not_in_jax"]
