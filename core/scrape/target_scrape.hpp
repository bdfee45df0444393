// SPDX-License-Identifier: Apache-2.0
// One endpoint of an external advisor and what is under way with it. Private to the instance. [strand], except for
// `fetched` and `fetch_cpu`.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "core/exposition/document.hpp"
#include "core/scrape/scrape_target.hpp"
#include "core/scrape/scraped_metrics.hpp"

namespace koord::scrape {

struct TargetScrape {
  ScrapeTarget target;
  ByteShare memory;  // of the target's texts
  ScrapedMetrics metrics;
  std::optional<Time> next = {};  // when it is due; nothing: at once
  bool waits = false;             // it is due, and others are in flight
  bool gone = false;              // the plugin does not name it any more; what comes is not taken
  std::thread fetcher = {};       // of one scrape; the endpoint may be slow, and the strand has other things to do
  std::chrono::steady_clock::time_point began = {};
  std::optional<Result<exposition::Document>> fetched = {};  // with the instance's lock held
  Duration fetch_cpu{};                                      // of the fetcher; as `fetched`

  bool in_flight() const { return fetcher.joinable(); }
  // A tick that comes a little early counts.
  bool is_due(Time now) const { return !next || now + target.period / 16 >= *next; }
};

}  // namespace koord::scrape
