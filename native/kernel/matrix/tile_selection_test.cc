#include "native/kernel/matrix/tile_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "native/kernel/matrix/operator.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

using Places = std::vector<std::pair<int32_t, int32_t>>;  // row, column

// Returns the positions of the first `count` off-diagonal entries, row by row.
Places FirstPlaces(int32_t size, int64_t count) {
  Places places;
  for (int32_t i = 0; i < size; ++i) {
    for (int32_t j = 0; j < size; ++j) {
      if (i == j || static_cast<int64_t>(places.size()) == count) continue;
      places.emplace_back(i, j);
    }
  }
  return places;
}

class Selection {
 public:
  Selection(int64_t size, const Places& places) : workspace_(1 << 28) {
    for (const auto& place : places) {
      rows_.push_back(place.first);
      columns_.push_back(place.second);
    }
    entries_ = {size, static_cast<int64_t>(places.size()), rows_.data(),
                columns_.data()};
    cells_.resize(places.size());
  }

  template <class T>
  TilePattern Select() {
    int64_t* offsets = nullptr;
    int32_t* order = nullptr;
    TilePattern pattern;
    EXPECT_TRUE(SortBy(entries_.rows, entries_.count, entries_.size,
                       &workspace_, &offsets, &order));
    EXPECT_TRUE(
        SelectTiles<T>(entries_, order, &workspace_, &pattern, cells_.data()));
    return pattern;
  }

  Workspace* workspace() { return &workspace_; }
  const std::vector<int64_t>& cells() const { return cells_; }

 private:
  Workspace workspace_;
  std::vector<int32_t> rows_;
  std::vector<int32_t> columns_;
  EntryList entries_;
  std::vector<int64_t> cells_;
};

int64_t WidthOf(int64_t size, const Places& places) {
  return Selection(size, places).Select<double>().width;
}

TEST(TileSelectionTest, AQuarterOfTheEntriesMakesWholeTiles) {
  EXPECT_EQ(WidthOf(16, FirstPlaces(16, 64)), 8);
  EXPECT_EQ(WidthOf(16, FirstPlaces(16, 63)), 4);
  EXPECT_EQ(WidthOf(9, FirstPlaces(9, 21)), 8);
  EXPECT_EQ(WidthOf(9, FirstPlaces(9, 20)), 4);
}

TEST(TileSelectionTest, SoDoUpToEightRows) {
  EXPECT_EQ(WidthOf(1, {}), 8);
  EXPECT_EQ(WidthOf(8, FirstPlaces(8, 7)), 8);
}

TEST(TileSelectionTest, DualsAreTakenOneByOne) {
  Selection selection(8, FirstPlaces(8, 56));
  EXPECT_EQ(selection.Select<Dual<double>>().width, 1);
}

// Returns the positions of the first `rows` rows in every fourth column. So
// entries fill a quarter of their tiles of width four. If `rows` is even,
// groups of columns need no padding.
Places Scattered(int32_t size, int32_t rows) {
  Places places;
  for (int32_t j = 0; j < size; j += 4) {
    for (int32_t i = 0; i < rows; ++i) places.emplace_back(i, j);
  }
  std::sort(places.begin(), places.end());
  return places;
}

TEST(TileSelectionTest, LargeAndEmptyTilesAreGivenUp) {
  // The matrix has 1024 groups of columns with 16 rows each: 65,536 cells.
  EXPECT_EQ(WidthOf(4096, Scattered(4096, 16)), 4);
  EXPECT_EQ(WidthOf(4096, Scattered(4096, 18)), 1);
}

TEST(TileSelectionTest, LargeAndFullTilesStay) {
  Places places;
  for (int32_t i = 0; i < 4096; ++i) {
    for (int32_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j) {
      if (i != j) places.emplace_back(i, (j + 4) % 4096);
    }
  }
  EXPECT_EQ(WidthOf(4096, places), 4);
}

// Checks out = in W against a direct computation, for numbers of entries that
// lead to different tile widths.
TEST(TileSelectionTest, EveryTilingIsTheSameMatrix) {
  for (const int64_t count : {0, 1, 63, 64, 240}) {
    const Places places = FirstPlaces(16, count);
    Selection selection(16, places);
    Operator<double> m;
    m.size = m.stride = 16;
    m.pattern = selection.Select<double>();
    std::vector<double> weights(m.pattern.num_cells());
    std::vector<double> expected(16);
    std::vector<double> in(16);
    for (int i = 0; i < 16; ++i) in[i] = 1 << i;
    for (size_t e = 0; e < places.size(); ++e) {
      const double weight = static_cast<double>(e + 1);  // sums are exact
      weights[selection.cells()[e]] = weight;
      expected[places[e].second] += in[places[e].first] * weight;
    }
    const std::vector<double> zeros(16);
    m.weights = weights.data();
    m.staying.share = zeros.data();
    std::vector<double> low(16);
    std::vector<double> out(16);
    Apply(m, 0, in.data(), low.data(), out.data());
    EXPECT_EQ(out, expected) << count << " entries";
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
