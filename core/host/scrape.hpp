// SPDX-License-Identifier: Apache-2.0
// One scrape: asks another program for its metrics and reads what it answers. Blocks, for a thread that may. [any thread]
#pragma once

#include <cstddef>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/exposition/document.hpp"
#include "core/http/location.hpp"

namespace koord::host {

struct ScrapeLimits {
  Duration timeout = std::chrono::seconds(1);  // for everything together
  std::size_t max_body = 16 << 20;
  int stop_fd = -1;  // readable: the scrape is not wanted any more
};

// An error says what was asked, what was found and what was expected; nothing of the answer is given then.
Result<exposition::Document> scrape(const http::Location& location, const ScrapeLimits& limits);

}  // namespace koord::host
