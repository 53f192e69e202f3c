// Selects the tiles in which a matrix is stored, by its density and size.
//
// | entries                                  | tiles                         |
// | ---------------------------------------- | ----------------------------- |
// | of anything but doubles                  | of one number                 |
// | doubles, at least a quarter of all, or   | of eight, the whole matrix    |
// | of no more than eight rows               |                               |
// | fewer                                    | of four, those with entries   |
// | fewer, where tiles of four would need    | of one number, to save memory |
// | more than kLargeTiles cells, over half   |                               |
// | of them empty                            |                               |

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
