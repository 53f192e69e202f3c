#include "native/kernel/runtime/workspace.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <new>

namespace phasic {
namespace {

constexpr size_t kFirstChunkBytes = size_t{1} << 18;
constexpr size_t kMaxKeptBytes = size_t{1} << 23;

size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

// The lock that a thread must hold while one of its workspaces has more than
// kOwnBytes. A thread may lock it several times, for several workspaces.
std::recursive_mutex turn;

// Creates a new lock in a forked child, where the thread that held the old one
// does not exist.
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

void Workspace::UseChunk() {
  next_ = StartOf(chunks_, sizeof(Chunk));
  room_ = chunks_->size;
  CloseMemory(next_, room_);
}

bool Workspace::AddChunk(size_t size) {
  if (size > limit_bytes_ || total_bytes_ > limit_bytes_ - size) return false;
  if (takes_turns_ && !has_turn_ && total_bytes_ + size > kOwnBytes) {
    turn.lock();
    has_turn_ = true;
  }
  void* memory = std::aligned_alloc(kAlignment, RoundUp(sizeof(Chunk)) + size);
  if (memory == nullptr) return false;
  Chunk* chunk = static_cast<Chunk*>(memory);
  *chunk = {chunks_, size};
  chunks_ = chunk;
  total_bytes_ += size;
  UseChunk();
  return true;
}

bool Workspace::MakeRoom(size_t bytes) {
  return AddChunk(bytes > kFirstChunkBytes ? bytes : kFirstChunkBytes);
}

void Workspace::FreeAll() {
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    std::free(chunks_);
    chunks_ = next;
  }
  total_bytes_ = 0;
  room_ = 0;
}

void Workspace::ReleaseTurn() {
  if (has_turn_) turn.unlock();
  has_turn_ = false;
}

void Workspace::Reset() {
  if (chunks_ != nullptr && chunks_->next == nullptr &&
      chunks_->size <= kMaxKeptBytes) {
    UseChunk();
  } else if (chunks_ != nullptr) {
    // Replaces all chunks by a single one of the same total size, up to
    // kMaxKeptBytes, so that the next use of as much memory needs no further
    // chunk.
    const size_t wanted =
        total_bytes_ < kMaxKeptBytes ? total_bytes_ : kMaxKeptBytes;
    FreeAll();
    AddChunk(wanted);
  }
  ReleaseTurn();
}

}  // namespace phasic
