"""Names of the reference, and the code that their pages show first."""

from absl.testing import absltest

from tools.site import names


class Base:
  """A base."""

  def first(self):
    pass

  def second(self):
    pass


class Thing(Base):
  """A thing.

  Example:

    >>> from phasic.substrates.numpy.distributions import Thing
    >>> number = 2
    >>> thing = Thing()
    >>> thing.second()
  """

  def second(self):
    pass


Base.__module__ = "phasic.substrates.numpy.distributions.base.distribution"
Thing.__module__ = "phasic.substrates.numpy.distributions.families.thing"


def _name(value, name):
  return names.Name("phasic.distributions", name, value, ("numpy", "jax"))


class NamesTest(absltest.TestCase):
  def test_places(self):
    name = _name(Thing, "Thing")
    self.assertEqual(name.full, "phasic.distributions.Thing")
    self.assertEqual(name.page, name.full)
    self.assertEqual(name.room, "families")
    self.assertEqual(name.summary, "A thing.")
    self.assertEqual(_name(3, "THING").page, "phasic.distributions.THING.data")

  def test_construction(self):
    code = names.construction(_name(Thing, "Thing"))
    self.assertEndsWith(code, "number = 2\nthing = Thing()\n")
    self.assertIn(
      "from phasic.substrates.jax.distributions import",
      names.for_substrate(code, "jax"),
    )

  def test_ways_of_a_substrate(self):
    code = "x.sample(2, seed=13)\nnp.sum(x)\n"
    self.assertEqual(names.for_substrate(code, "numpy"), code)
    self.assertEqual(
      names.for_substrate(code, "jax"),
      "import jax\nx.sample(2, seed=jax.random.key(13))\nnp.sum(x)\n",
    )
    self.assertEqual(
      names.for_substrate(code, "tf"),
      "import tensorflow as tf\nx.sample(2, seed=13)\ntf.reduce_sum(x)\n",
    )

  def test_construction_without_example(self):
    code = "from phasic.substrates.numpy.distributions import Base\n"
    self.assertEqual(names.construction(_name(Base, "Base")), code)

  def test_members(self):
    found = [(name, base) for name, _, base in names.members(Thing)]
    self.assertEqual(found, [("second", Thing), ("first", Base)])


if __name__ == "__main__":
  absltest.main()
