// The storage of a square matrix in tiles. Columns are in groups of `width`
// neighbors, and a tile is the part of one row in one group. Only tiles that
// contain entries are stored, group by group. With width one this is the usual
// compressed sparse column format. Wider tiles fill registers with neighboring
// entries, which are common in the rows of transition matrices. In a dense
// matrix all tiles are stored. The place of one number in the array of all
// tiles is a cell.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_TILES_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_TILES_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns the length of state vectors, which are padded with zeros to a
// multiple of eight.
inline int64_t PaddedSize(int64_t p) { return (p + 7) / 8 * 8; }

template <class T>
T* AllocateZeros(Workspace* workspace, int64_t count) {
  if constexpr (std::is_arithmetic<T>::value) {
    return static_cast<T*>(
        workspace->AllocateZeros(static_cast<size_t>(count), sizeof(T)));
  } else {
    T* result = static_cast<T*>(
        workspace->Allocate(static_cast<size_t>(count), sizeof(T)));
    for (int64_t i = 0; result != nullptr && i < count; ++i) result[i] = T(0);
    return result;
  }
}

template <class T>
T* AllocateRoom(Workspace* workspace, int64_t count) {
  return static_cast<T*>(
      workspace->Allocate(static_cast<size_t>(count), sizeof(T)));
}

struct TilePattern {
  int64_t width = 1;
  int64_t num_groups = 0;            // of columns, with padding
  const int64_t* offsets = nullptr;  // [num_groups + 1]
  const int32_t* rows = nullptr;     // [num_tiles]

  int64_t num_tiles() const { return offsets[num_groups]; }
  int64_t num_cells() const { return num_tiles() * width; }
};

// Returns how many tiles of a group are processed at a time. Each group is
// padded with empty tiles to a multiple of this number.
constexpr int64_t TilesAtOnce(int64_t width) {
  return width == 8 ? 4 : (width == 4 ? 2 : 1);
}
inline int64_t PaddedTiles(int64_t count, int64_t width) {
  const int64_t at_once = TilesAtOnce(width);
  return (count + at_once - 1) / at_once * at_once;
}

// The positions of the `count` entries of a sparse square matrix with `size`
// rows.
struct EntryList {
  int64_t size = 0;
  int64_t count = 0;
  const int32_t* rows = nullptr;
  const int32_t* columns = nullptr;
};

// Stably sorts the indices e from 0 to count - 1 by keys[e], and stores them in
// `order`. The indices with key i start at order[offsets[i]]. Returns false if
// memory does not suffice.
inline bool SortBy(const int32_t* keys, int64_t count, int64_t size,
                   Workspace* workspace, int64_t** offsets, int32_t** order) {
  int64_t* starts = AllocateZeros<int64_t>(workspace, size + 2);
  int32_t* sorted = static_cast<int32_t*>(
      workspace->Allocate(static_cast<size_t>(count), sizeof(int32_t)));
  if (starts == nullptr || sorted == nullptr) return false;
  for (int64_t e = 0; e < count; ++e) ++starts[keys[e] + 2];
  for (int64_t i = 2; i <= size + 1; ++i) starts[i] += starts[i - 1];
  for (int64_t e = 0; e < count; ++e) {
    sorted[starts[keys[e] + 1]++] = static_cast<int32_t>(e);
  }
  *offsets = starts;
  *order = sorted;
  return true;
}

// Builds the pattern of a dense matrix. Returns false if memory does not
// suffice.
inline bool FullPattern(int64_t size, int64_t width, Workspace* workspace,
                        TilePattern* pattern) {
  const int64_t num_groups = PaddedSize(size) / width;
  const int64_t num_rows =
      PaddedTiles(size, width);  // rows from `size` on are zero
  int64_t* offsets = AllocateRoom<int64_t>(workspace, num_groups + 1);
  int32_t* rows = AllocateRoom<int32_t>(workspace, num_groups * num_rows);
  if (offsets == nullptr || rows == nullptr) return false;
  offsets[0] = 0;
  for (int64_t group = 0; group < num_groups; ++group) {
    offsets[group + 1] = (group + 1) * num_rows;
    for (int64_t i = 0; i < num_rows; ++i) {
      rows[group * num_rows + i] = static_cast<int32_t>(i);
    }
  }
  *pattern = {width, num_groups, offsets, rows};
  return true;
}
inline int64_t FullCell(int64_t size, int64_t width, int64_t row,
                        int64_t column) {
  const int64_t tile = column / width * PaddedTiles(size, width) + row;
  return tile * width + column % width;
}

// Builds the pattern of the tiles that contain the entries. `order` lists the
// entries with rows ascending. Sets cells[e] to the position of entry e in the
// array of all tiles' numbers. Returns false if memory does not suffice.
inline bool SparsePattern(const EntryList& entries, const int32_t* order,
                          int64_t width, Workspace* workspace,
                          TilePattern* pattern, int64_t* cells) {
  const int64_t num_groups = PaddedSize(entries.size) / width;
  int64_t* offsets = AllocateZeros<int64_t>(workspace, num_groups + 1);
  int64_t* ends = AllocateZeros<int64_t>(workspace, num_groups);
  int32_t* last_rows = AllocateZeros<int32_t>(workspace, num_groups);
  if (offsets == nullptr || ends == nullptr || last_rows == nullptr) {
    return false;
  }
  for (int64_t group = 0; group < num_groups; ++group) last_rows[group] = -1;
  for (int64_t n = 0; n < entries.count; ++n) {
    const int32_t e = order[n];
    const int64_t group = entries.columns[e] / width;
    if (last_rows[group] == entries.rows[e]) continue;
    last_rows[group] = entries.rows[e];
    ++offsets[group + 1];
  }
  for (int64_t group = 0; group < num_groups; ++group) {
    offsets[group + 1] =
        offsets[group] + PaddedTiles(offsets[group + 1], width);
    ends[group] = offsets[group];
    last_rows[group] = -1;
  }
  int32_t* rows = AllocateZeros<int32_t>(workspace, offsets[num_groups]);
  if (rows == nullptr) return false;
  for (int64_t n = 0; n < entries.count; ++n) {
    const int32_t e = order[n];
    const int64_t group = entries.columns[e] / width;
    if (last_rows[group] != entries.rows[e]) {
      last_rows[group] = entries.rows[e];
      rows[ends[group]++] = entries.rows[e];
    }
    cells[e] = (ends[group] - 1) * width + entries.columns[e] % width;
  }
  *pattern = {width, num_groups, offsets, rows};
  return true;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_TILES_H_
