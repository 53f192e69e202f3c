#include "native/kernel/workspace.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "native/kernel/memory_guard.h"

namespace phasic {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kFirstChunkBytes = size_t{1} << 18;
constexpr size_t kMaxKeptBytes = size_t{1} << 23;

size_t RoundUp(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The turn to have much memory. A thread may have it with several workspaces.
std::recursive_mutex turn;

// A thread that had it when the process forked is not in the child.
void ForgetTurn() { new (&turn) std::recursive_mutex; }

[[maybe_unused]] const int kForkHandler =
    pthread_atfork(nullptr, nullptr, ForgetTurn);

char* StartOf(void* chunk, size_t header_bytes) {
  return static_cast<char*>(chunk) + RoundUp(header_bytes);
}

}  // namespace

Workspace::Workspace(size_t limit_bytes, bool takes_turns)
    : limit_bytes_(limit_bytes), takes_turns_(takes_turns) {}

Workspace::~Workspace() {
  FreeAll();
  ReleaseTurn();
}

Workspace::Chunk* Workspace::NewChunk(size_t size) {
  if (size > limit_bytes_ || total_bytes_ > limit_bytes_ - size) {
    return nullptr;
  }
  if (takes_turns_ && !has_turn_ && total_bytes_ + size > kOwnBytes) {
    turn.lock();
    has_turn_ = true;
  }
  void* memory = std::aligned_alloc(kAlignment, RoundUp(sizeof(Chunk)) + size);
  if (memory == nullptr) return nullptr;
  Chunk* chunk = static_cast<Chunk*>(memory);
  *chunk = {chunks_, size, 0};
  chunks_ = chunk;
  total_bytes_ += size;
  CloseMemory(StartOf(chunk, sizeof(Chunk)), size);
  return chunk;
}

void* Workspace::Allocate(size_t count, size_t item_bytes) {
  if (item_bytes != 0 && count > (limit_bytes_ / item_bytes)) return nullptr;
  const size_t bytes = RoundUp(count * item_bytes + 1);
  Chunk* chunk = chunks_;
  if (chunk == nullptr || chunk->size - chunk->used < bytes) {
    chunk = NewChunk(bytes > kFirstChunkBytes ? bytes : kFirstChunkBytes);
    if (chunk == nullptr) return nullptr;
  }
  void* result = StartOf(chunk, sizeof(Chunk)) + chunk->used;
  chunk->used += bytes;
  OpenMemory(result, count * item_bytes);
  return result;
}

void Workspace::FreeAll() {
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    std::free(chunks_);
    chunks_ = next;
  }
  total_bytes_ = 0;
}

void Workspace::ReleaseTurn() {
  if (has_turn_) turn.unlock();
  has_turn_ = false;
}

void Workspace::Reset() {
  if (chunks_ != nullptr && chunks_->next == nullptr &&
      chunks_->size <= kMaxKeptBytes) {
    chunks_->used = 0;
    CloseMemory(StartOf(chunks_, sizeof(Chunk)), chunks_->size);
  } else if (chunks_ != nullptr) {
    // One chunk as large as all, so that the next use of this size needs one.
    const size_t wanted =
        total_bytes_ < kMaxKeptBytes ? total_bytes_ : kMaxKeptBytes;
    FreeAll();
    NewChunk(wanted);
  }
  ReleaseTurn();
}

}  // namespace phasic
