// A cache of the results of recent calls.

#ifndef PHASIC_NATIVE_ELIMINATION_FACTORS_RECENT_H_
#define PHASIC_NATIVE_ELIMINATION_FACTORS_RECENT_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "native/kernel/runtime/of_process.h"

namespace phasic {

// A cache that keeps the most recently used items, up to a maximal number of
// items and of bytes. `Item` has a method bytes().
template <class Item>
class Recent {
 public:
  Recent(size_t max_items, size_t max_bytes)
      : max_items_(max_items), max_bytes_(max_bytes) {
    items_.reserve(max_items + 1);
  }

  // Returns the first item for which both `may_be` and `is_wanted` are true, or
  // nullptr. `may_be` must be fast, as it runs under the lock; `is_wanted` runs
  // without the lock.
  template <class MayBe, class IsWanted>
  std::shared_ptr<const Item> Find(const MayBe& may_be,
                                   const IsWanted& is_wanted) {
    std::shared_ptr<const Item> item;
    for (size_t skipped = 0;; ++skipped) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        item = Candidate(may_be, skipped);
      }
      if (item == nullptr) return nullptr;
      if (is_wanted(*item)) break;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto place = std::find(items_.begin(), items_.end(), item);
    if (place != items_.end()) std::rotate(items_.begin(), place, place + 1);
    return item;
  }

  void Keep(const std::shared_ptr<const Item>& item) {
    if (item->bytes() > max_bytes_) return;
    // Freeing items takes time, so dropped items are freed after the lock is
    // released.
    std::vector<std::shared_ptr<const Item>> dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    items_.insert(items_.begin(), item);
    bytes_ += item->bytes();
    while (items_.size() > max_items_ || bytes_ > max_bytes_) {
      bytes_ -= items_.back()->bytes();
      dropped.push_back(std::move(items_.back()));
      items_.pop_back();
    }
  }

 private:
  // Returns the first item for which `may_be` is true after skipping `skipped`
  // such items, or nullptr.
  template <class MayBe>
  std::shared_ptr<const Item> Candidate(const MayBe& may_be,
                                        size_t skipped) const {
    for (const auto& item : items_) {
      if (may_be(*item) && skipped-- == 0) return item;
    }
    return nullptr;
  }

  const size_t max_items_;
  const size_t max_bytes_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Item>> items_;  // most recently used first
  size_t bytes_ = 0;
};

// The recent items of this process.
template <class Item, size_t kMaxItems, size_t kMaxBytes>
class RecentOfProcess {
 public:
  static Recent<Item>* Get() { return OfProcess<Own>::Get(); }

 private:
  struct Own : Recent<Item> {
    Own() : Recent<Item>(kMaxItems, kMaxBytes) {}
  };
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FACTORS_RECENT_H_
