// Room for a few objects that are made when they are needed.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_PLACES_H_
#define PHASIC_NATIVE_KERNEL_BATCH_PLACES_H_

#include <new>
#include <type_traits>
#include <utility>

namespace phasic {

// An array of std::optional would be filled with zeros in each call, which
// takes longer than the sweep over a small model.
template <class T, int kCount>
class Places {
 public:
  static_assert(std::is_trivially_destructible<T>::value,
                "objects are not destroyed");

  // Makes object number `i` from the arguments of its constructor.
  template <class... Arguments>
  T* Make(int i, Arguments&&... arguments) {
    return new (room_[i]) T(std::forward<Arguments>(arguments)...);
  }

 private:
  alignas(T) unsigned char room_[kCount][sizeof(T)];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_PLACES_H_
