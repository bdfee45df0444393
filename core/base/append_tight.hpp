// SPDX-License-Identifier: Apache-2.0
// For short vectors of which there are thousands: they grow by a quarter, where push_back() would leave up to half of
// their memory unused. [any thread]
#pragma once

#include <utility>
#include <vector>

namespace koord {

template <class T>
void append_tight(std::vector<T>& to, T value) {
  if (to.size() == to.capacity()) to.reserve(to.size() + 1 + to.size() / 4);
  to.push_back(std::move(value));
}

}  // namespace koord
