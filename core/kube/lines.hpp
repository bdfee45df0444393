// SPDX-License-Identifier: Apache-2.0
// Lines: the pieces of a stream made into lines of a bounded size. [any thread, one at a time]
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::kube {

class Lines {
 public:
  // Whether it wants more.
  using OnLine = std::function<bool(std::string_view line)>;

  explicit Lines(std::size_t max_line) : max_line_(max_line) {}

  // Passes on the lines that are complete now, without their newlines; empty ones are left out. An error: a line is too
  // long (message_size), or the callback stopped the reading (operation_canceled).
  Result<void> feed(std::string_view piece, const OnLine& on_line);
  // Nothing more will come: the last line may have no newline.
  Result<void> end(const OnLine& on_line);

 private:
  const std::size_t max_line_;
  std::string begun_;
};

}  // namespace koord::kube
