// SPDX-License-Identifier: Apache-2.0
// Capture takes the log's lines instead of stderr while it exists, so that a test can read them. One at a
// time; made and destroyed by the same thread, lines may come from any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/log/log.hpp"

namespace koord::log {

class Capture {
 public:
  explicit Capture(Level level = Level::trace, Format format = Format::text);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // The lines so far, without their line breaks.
  std::vector<std::string> lines() const;
  bool contains(std::string_view part) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::log
