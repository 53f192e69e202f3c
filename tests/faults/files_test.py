"""Saving graphs and fits writes no file: a full disk takes nothing from anybody.

`to_json` and `pickle.dumps` return text and bytes, and what a caller does with
them is the caller's. Files of JAX's cache are in cache_test.
"""

from absl.testing import absltest

from tests.faults import processes

# Notes all files that are opened to be written, where none may grow.
_NOTED = """
import pickle
import resource
import sys

from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import graphs
from phasic.substrates.numpy import inference

sys.dont_write_bytecode = True  # Of modules that are imported late.
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
written = []

def note(event, args):
  if event == "open":
    path, mode, flags = args
    if set(mode or "") & set("wax+") or flags & 3:
      written.append(path)

sys.addaudithook(note)
graph = graphs.models.illness_death()
again = graphs.Graph.from_json(graph.to_json())
data = inference.Observations.exact([1.0, 2.0, 3.0])
fit = inference.fit_mle(distributions.Erlang(2, 1.0), data)
other = pickle.loads(pickle.dumps(fit))
print(again.content_hash() == graph.content_hash())
print(other.log_likelihood == fit.log_likelihood, fit.distribution.sample(seed=1) > 0)
print(written)
"""


class FilesTest(absltest.TestCase):
  def test_nothing_is_written(self):
    done = processes.run(_NOTED)
    self.assertEqual((done.stdout, done.stderr), ("True\nTrue True\n[]\n", ""))


if __name__ == "__main__":
  absltest.main()
