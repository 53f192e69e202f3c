// The structure of a model's matrices: everything that depends on the positions
// of their entries but not on the values. Models with the same edges share it.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_STRUCTURE_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_STRUCTURE_H_

#include <cstdint>

#include "native/kernel/matrix/tile_selection.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

struct Structure {
  bool is_made = false;
  bool is_narrow = false;  // tiles have width one, also of doubles
  int64_t* row_offsets = nullptr;
  int64_t* column_offsets = nullptr;
  int32_t* by_row = nullptr;
  int32_t* by_column = nullptr;
  TilePattern forward;
  TilePattern backward;
  int64_t* forward_cells = nullptr;  // cells of the entries in `forward`
  int64_t* backward_cells = nullptr;
};

template <class T>
bool PlaceTiles(const EntryList& entries, const int32_t* order, bool is_narrow,
                Workspace* workspace, TilePattern* pattern, int64_t** cells) {
  *cells = AllocateRoom<int64_t>(workspace, entries.count);
  if (*cells == nullptr) return false;
  return is_narrow
             ? SparsePattern(entries, order, 1, workspace, pattern, *cells)
             : SelectTiles<T>(entries, order, workspace, pattern, *cells);
}

// Computes the structure for matrices of numbers of type T, unless that was
// done before. Returns false if memory does not suffice.
template <class T>
bool MakeStructure(const EntryList& entries, Workspace* workspace,
                   Structure* s) {
  if (s->is_made) return true;
  const EntryList transposed = {entries.size, entries.count, entries.columns,
                                entries.rows};
  s->is_made = SortBy(entries.rows, entries.count, entries.size, workspace,
                      &s->row_offsets, &s->by_row) &&
               SortBy(entries.columns, entries.count, entries.size, workspace,
                      &s->column_offsets, &s->by_column) &&
               PlaceTiles<T>(entries, s->by_row, s->is_narrow, workspace,
                             &s->forward, &s->forward_cells) &&
               PlaceTiles<T>(transposed, s->by_column, s->is_narrow, workspace,
                             &s->backward, &s->backward_cells);
  return s->is_made;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_STRUCTURE_H_
