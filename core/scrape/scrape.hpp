// SPDX-License-Identifier: Apache-2.0
// One scrape: asks another program for its metrics, or a file, and reads what it answers. Blocks, for a thread that
// may. [any thread]
#pragma once

#include <memory>

#include "core/base/byte_budget.hpp"
#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/exposition/document.hpp"
#include "core/scrape/scrape_target.hpp"
#include "core/service/rights.hpp"

namespace koord::scrape {

inline constexpr std::size_t kDefaultMaxBody = 16 << 20;
inline constexpr std::size_t kMostMaxBody = 64 << 20;      // whatever a target says
inline constexpr std::size_t kMostMaxSamples = 1'000'000;  // the same

struct ScrapeLimits {
  Duration timeout = std::chrono::seconds(1);  // for everything together
  int stop_fd = -1;                            // readable: the scrape is not wanted any more
  service::Rights rights = {.host_plugin = false, .files = {}, .cgroups = {}};  // of the plugin that names the target
  std::shared_ptr<ByteBudget> memory =
      nullptr;  // of all its scrapes: the answers and what is read of them; nullptr: no limit
};

// An error says what was asked, what was found and what was expected; nothing of the answer is given then.
Result<exposition::Document> scrape(const ScrapeTarget& target, const ScrapeLimits& limits);

}  // namespace koord::scrape
