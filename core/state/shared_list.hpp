// SPDX-License-Identifier: Apache-2.0
// SharedList: a list that copies share until one of them is changed, so that a snapshot takes over what stayed the
// same. Reading is for any thread, changing for the one that makes a snapshot.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace koord::state {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedList() = default;
  SharedList(std::vector<T> items) : items_(std::make_shared<std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  operator const std::vector<T>&() const { return get(); }
  const_iterator begin() const { return get().begin(); }
  const_iterator end() const { return get().end(); }
  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  const T& operator[](std::size_t i) const { return get()[i]; }
  const T& at(std::size_t i) const { return get().at(i); }
  const T& front() const { return get().front(); }
  const T& back() const { return get().back(); }

  // These give this copy a list of its own first.
  T& operator[](std::size_t i) { return own()[i]; }
  T& back() { return own().back(); }
  void push_back(T item) { own().push_back(std::move(item)); }
  T& emplace_back() { return own().emplace_back(); }
  std::vector<T>& edit() { return own(); }

  // Shared lists are equal without a comparison of items.
  bool operator==(const SharedList& other) const { return items_ == other.items_ || get() == other.get(); }

 private:
  const std::vector<T>& get() const {
    static const std::vector<T> none;
    return items_ ? *items_ : none;
  }
  std::vector<T>& own() {
    if (!items_ || items_.use_count() > 1) items_ = std::make_shared<std::vector<T>>(get());
    return *items_;
  }

  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace koord::state
