#include "native/elimination/symbolic/fronts.h"

#include <algorithm>
#include <numeric>

#include "native/elimination/ordering/fill_order.h"
#include "native/elimination/symbolic/elimination_tree.h"

namespace phasic {
namespace {

// Returns the children of each node of a forest, in ascending order, given each
// node's parent.
Lists ListChildren(const std::vector<int32_t>& parents) {
  Lists found;
  found.offsets.assign(parents.size() + 1, 0);
  for (const int32_t parent : parents) {
    if (parent != kNone) ++found.offsets[parent + 1];
  }
  std::partial_sum(found.offsets.begin(), found.offsets.end(),
                   found.offsets.begin());
  found.nodes.resize(found.offsets.back());
  std::vector<int64_t> next(found.offsets.begin(), found.offsets.end() - 1);
  for (size_t n = 0; n < parents.size(); ++n) {
    if (parents[n] == kNone) continue;
    found.nodes[next[parents[n]]++] = static_cast<int32_t>(n);
  }
  return found;
}

std::vector<int32_t> Inverse(const std::vector<int32_t>& order) {
  std::vector<int32_t> position(order.size());
  for (size_t n = 0; n < order.size(); ++n) {
    position[order[n]] = static_cast<int32_t>(n);
  }
  return position;
}

// The supernodes of an elimination tree: chains of nodes that are connected
// with the same later nodes. A supernode is named by its last node, `top`.
struct Chains {
  std::vector<int32_t> top;      // last node of each node's supernode
  std::vector<int32_t> sizes;    // size of the front of each last node
  std::vector<int32_t> parents;  // parent supernode of each last node
};

Chains FindChains(const EliminationTree& tree) {
  const size_t size = tree.parents.size();
  std::vector<int32_t> joined(size, kNone);  // child in the same supernode
  for (size_t n = 0; n < size; ++n) {
    const int32_t parent = tree.parents[n];
    if (parent != kNone && tree.counts[n] == tree.counts[parent] + 1) {
      joined[parent] = static_cast<int32_t>(n);
    }
  }
  Chains chains = {std::vector<int32_t>(size), std::vector<int32_t>(size, 0),
                   std::vector<int32_t>(size, kNone)};
  for (size_t n = size; n-- > 0;) {
    const int32_t parent = tree.parents[n];
    const bool joins =
        parent != kNone && joined[parent] == static_cast<int32_t>(n);
    const int32_t top = joins ? chains.top[parent] : static_cast<int32_t>(n);
    chains.top[n] = top;
    if (!joins) {
      chains.sizes[n] = tree.counts[n];
      if (parent != kNone) chains.parents[n] = chains.top[parent];
    }
    ++chains.sizes[top];
  }
  return chains;
}

int64_t Square(int64_t x) { return x * x; }

// Sorts the children of each supernode so that its subtree needs the least
// memory. The matrix of a supernode is allocated when its first child is
// eliminated.
void SortChildren(const Chains& chains, Lists* children) {
  std::vector<int64_t> peaks(chains.top.size(), 0);
  for (size_t n = 0; n < chains.top.size(); ++n) {
    if (chains.top[n] != static_cast<int32_t>(n)) continue;
    const auto first = children->nodes.begin() + children->offsets[n];
    const auto last = children->nodes.begin() + children->offsets[n + 1];
    std::stable_sort(first, last,
                     [&](int32_t a, int32_t b) { return peaks[a] > peaks[b]; });
    const int64_t own = Square(chains.sizes[n]);
    peaks[n] = first == last ? own : peaks[*first];
    for (auto child = first; child != last; ++child) {
      const int64_t less =
          child == first ? Square(chains.sizes[*child]) : peaks[*child];
      peaks[n] = std::max(peaks[n], own + less);
    }
  }
}

// Returns the last nodes of all supernodes in postorder, that is, after their
// children in the elimination tree.
std::vector<int32_t> Postorder(const Chains& chains, const Lists& children) {
  std::vector<int32_t> order;
  std::vector<int32_t> open;
  for (size_t root = 0; root < chains.top.size(); ++root) {
    if (chains.top[root] != static_cast<int32_t>(root) ||
        chains.parents[root] != kNone) {
      continue;
    }
    // Lists parents before their children, and siblings from last to first, and
    // then reverses the list.
    const size_t begin = order.size();
    open.push_back(static_cast<int32_t>(root));
    while (!open.empty()) {
      const int32_t top = open.back();
      open.pop_back();
      order.push_back(top);
      for (int64_t s = children.offsets[top]; s < children.offsets[top + 1];
           ++s) {
        open.push_back(children.nodes[s]);
      }
    }
    std::reverse(order.begin() + static_cast<int64_t>(begin), order.end());
  }
  return order;
}

// Appends a front to the tree for each supernode, and computes the order of
// elimination. ListLater fills the fronts' lists of later positions. `order`
// maps nodes of the elimination tree to nodes of the graph.
void PlaceFronts(const Chains& chains, const std::vector<int32_t>& tops,
                 const std::vector<int32_t>& order, FrontTree* tree) {
  const size_t size = order.size();
  std::vector<int32_t> front_of(size, kNone);  // front of each last node
  for (size_t f = 0; f < tops.size(); ++f) {
    front_of[tops[f]] = static_cast<int32_t>(f);
  }
  std::vector<int32_t> own(tops.size(), 0);
  for (size_t n = 0; n < size; ++n) ++own[front_of[chains.top[n]]];
  int32_t first = 0;
  for (size_t f = 0; f < tops.size(); ++f) {
    Front front = {};
    front.first = first;
    front.num_own = own[f];
    front.size = chains.sizes[tops[f]];
    const int32_t parent = chains.parents[tops[f]];
    front.parent = parent == kNone ? kNoFront : front_of[parent];
    front.is_leaf = true;
    front.later = static_cast<int64_t>(tree->later.size());
    front.factors = tree->num_factors;
    tree->later.resize(tree->later.size() + front.num_later());
    tree->num_factors += front.num_factors();
    tree->fronts.push_back(front);
    first += own[f];
    own[f] = front.first;  // position of the front's next node
  }
  for (Front& front : tree->fronts) {
    if (front.parent == kNoFront) continue;
    Front& parent = tree->fronts[front.parent];
    front.opens_parent = parent.is_leaf;
    parent.is_leaf = false;
  }
  tree->order.resize(size);
  for (size_t n = 0; n < size; ++n) {
    tree->order[own[front_of[chains.top[n]]]++] = order[n];
  }
}

// Computes the later positions of each front, and their indices in the matrix
// of the parent front.
void ListLater(const std::vector<std::pair<int32_t, int32_t>>& edges,
               FrontTree* tree) {
  const Lists neighbours = ListNeighbours(edges, Inverse(tree->order));
  std::vector<int32_t> parents;
  parents.reserve(tree->fronts.size());
  for (const Front& front : tree->fronts) parents.push_back(front.parent);
  const Lists children = ListChildren(parents);
  tree->places.resize(tree->later.size());
  std::vector<int32_t> place(tree->order.size(), kNone);
  for (size_t f = 0; f < tree->fronts.size(); ++f) {
    const Front& front = tree->fronts[f];
    const int32_t last = front.first + front.num_own;
    for (int32_t n = front.first; n < last; ++n) place[n] = n - front.first;
    int32_t* const later = tree->later.data() + front.later;
    int64_t count = 0;
    const auto add = [&](int32_t n) {
      if (n < last || place[n] != kNone) return;
      place[n] = 0;
      later[count++] = n;
    };
    for (int64_t s = neighbours.offsets[front.first];
         s < neighbours.offsets[last]; ++s) {
      add(neighbours.nodes[s]);
    }
    for (int64_t c = children.offsets[f]; c < children.offsets[f + 1]; ++c) {
      const Front& child = tree->fronts[children.nodes[c]];
      for (int64_t s = 0; s < child.num_later(); ++s) {
        add(tree->later[child.later + s]);
      }
    }
    std::sort(later, later + count);
    for (int64_t s = 0; s < count; ++s) {
      place[later[s]] = front.num_own + static_cast<int32_t>(s);
    }
    for (int64_t c = children.offsets[f]; c < children.offsets[f + 1]; ++c) {
      const Front& child = tree->fronts[children.nodes[c]];
      for (int64_t s = child.later; s < child.later + child.num_later(); ++s) {
        tree->places[s] = place[tree->later[s]];
      }
    }
    for (int32_t n = front.first; n < last; ++n) place[n] = kNone;
    for (int64_t s = 0; s < count; ++s) place[later[s]] = kNone;
  }
}

// Allocates the lowest free range of memory for each front's matrix. A matrix
// is in use from the elimination of its first child (or its own, if it has no
// children) to the end of its own elimination.
class WorkingMemory {
 public:
  int64_t Take(int64_t count) {
    int64_t begin = 0;
    auto next = taken_.begin();
    while (next != taken_.end() && next->first - begin < count) {
      begin = next->second;
      ++next;
    }
    taken_.insert(next, {begin, begin + count});
    most_ = std::max(most_, begin + count);
    return begin;
  }
  void GiveBack(int64_t begin) {
    const auto is_it = [&](const auto& range) { return range.first == begin; };
    taken_.erase(std::find_if(taken_.begin(), taken_.end(), is_it));
  }
  int64_t most() const { return most_; }

 private:
  std::vector<std::pair<int64_t, int64_t>> taken_;  // ranges in use, ascending
  int64_t most_ = 0;
};

void PlaceMatrices(FrontTree* tree) {
  WorkingMemory memory;
  for (Front& front : tree->fronts) {
    if (front.is_leaf) front.matrix = memory.Take(Square(front.size));
    if (front.opens_parent) {
      Front& parent = tree->fronts[front.parent];
      parent.matrix = memory.Take(Square(parent.size));
    }
    memory.GiveBack(front.matrix);
  }
  tree->num_working = memory.most();
}

}  // namespace

FrontTree MakeFronts(int32_t size,
                     const std::vector<std::pair<int32_t, int32_t>>& edges,
                     int64_t max_connections) {
  FrontTree result;
  const std::vector<int32_t> order = MinimumDegreeOrder(size, edges);
  const EliminationTree tree =
      MakeTree(ListNeighbours(edges, Inverse(order)), max_connections);
  result.num_connections = tree.total;
  for (const int32_t count : tree.counts) {
    result.operations += static_cast<double>(count) * count;
  }
  if (tree.total > max_connections) return result;
  const Chains chains = FindChains(tree);
  Lists children = ListChildren(chains.parents);
  SortChildren(chains, &children);
  PlaceFronts(chains, Postorder(chains, children), order, &result);
  ListLater(edges, &result);
  PlaceMatrices(&result);
  return result;
}

}  // namespace phasic
