// Results of the last calls, to be used again.

#ifndef PHASIC_NATIVE_ELIMINATION_RECENT_H_
#define PHASIC_NATIVE_ELIMINATION_RECENT_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace phasic {

// Keeps the most recently used items, so many and so many bytes at most. An
// item tells its own size, by bytes(), and whether it is what a caller needs.
template <class Item>
class Recent {
 public:
  Recent(size_t max_items, size_t max_bytes)
      : max_items_(max_items), max_bytes_(max_bytes) {}

  template <class IsWanted>
  std::shared_ptr<const Item> Find(const IsWanted& is_wanted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto item = items_.begin(); item != items_.end(); ++item) {
      if (!is_wanted(**item)) continue;
      items_.splice(items_.begin(), items_, item);
      return items_.front();
    }
    return nullptr;
  }

  void Keep(const std::shared_ptr<const Item>& item) {
    if (item->bytes() > max_bytes_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    items_.push_front(item);
    bytes_ += item->bytes();
    while (items_.size() > max_items_ || bytes_ > max_bytes_) {
      bytes_ -= items_.back()->bytes();
      items_.pop_back();
    }
  }

 private:
  const size_t max_items_;
  const size_t max_bytes_;
  std::mutex mutex_;
  std::list<std::shared_ptr<const Item>> items_;
  size_t bytes_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_RECENT_H_
