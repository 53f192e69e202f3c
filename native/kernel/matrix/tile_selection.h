// Selects the width of the tiles in which a matrix is stored. The first line of
// this table that applies decides.
//
// | matrix                                    | tiles                         |
// | ----------------------------------------- | ----------------------------- |
// | its numbers are not doubles               | width 1                       |
// | at most eight rows, or entries in at      | width 8, all tiles stored     |
// | least a quarter of all cells              |                               |
// | in tiles of width 4: at most kLargeTiles  | width 4, only tiles with      |
// | cells, or entries in at least half of     | entries stored                |
// | the cells                                 |                               |
// | any other                                 | width 1, to save memory       |

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_TILE_SELECTION_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_TILE_SELECTION_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kLargeTiles = int64_t{1} << 16;

// Selects the tiles for matrix entries of type T, and builds their pattern.
// `order` lists the entries with rows ascending. Sets cells[e] to the cell of
// entry e. Returns false if memory does not suffice.
template <class T>
bool SelectTiles(const EntryList& entries, const int32_t* order,
                 Workspace* workspace, TilePattern* pattern, int64_t* cells) {
  constexpr bool kIsPlain = std::is_same<T, double>::value;
  if (kIsPlain &&
      (entries.size <= 8 || 4 * entries.count >= entries.size * entries.size)) {
    for (int64_t e = 0; e < entries.count; ++e) {
      cells[e] = FullCell(entries.size, 8, entries.rows[e], entries.columns[e]);
    }
    return FullPattern(entries.size, 8, workspace, pattern);
  }
  if (kIsPlain) {
    if (!SparsePattern(entries, order, 4, workspace, pattern, cells)) {
      return false;
    }
    const int64_t num_cells = pattern->num_cells();
    if (num_cells <= kLargeTiles || num_cells <= 2 * entries.count) return true;
  }
  return SparsePattern(entries, order, 1, workspace, pattern, cells);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_TILE_SELECTION_H_
