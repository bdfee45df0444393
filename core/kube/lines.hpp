// SPDX-License-Identifier: Apache-2.0
// Lines: the pieces of a stream made into lines of a bounded size. [any thread, one at a time]
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"

namespace koord::kube {

class Lines {
 public:
  // Whether it wants more.
  using OnLine = std::function<bool(std::string_view line)>;

  // A line of more than `max_line` bytes, up to kMostSkipped more. `head`: its first `max_line` bytes; `bytes`: its
  // size.
  static constexpr std::size_t kMostSkipped = 64u << 20;
  using OnLongLine = std::function<bool(std::string_view head, std::size_t bytes)>;

  // Without `on_long_line` a line that is too long is an error.
  explicit Lines(std::size_t max_line, OnLongLine on_long_line = {})
      : max_line_(max_line), on_long_line_(std::move(on_long_line)) {}

  // Passes on the lines that are complete now, without their newlines; empty ones are left out. An error: a line is too
  // long (message_size), or a callback stopped the reading (operation_canceled).
  Result<void> feed(std::string_view piece, const OnLine& on_line);
  // Nothing more will come: the last line may have no newline.
  Result<void> end(const OnLine& on_line);

 private:
  Result<void> skip(std::string_view part);
  Result<void> end_long_line();

  const std::size_t max_line_;
  const OnLongLine on_long_line_;
  std::string begun_;
  std::size_t skipped_ = 0;  // bytes of the line behind begun_
};

}  // namespace koord::kube
