// SPDX-License-Identifier: Apache-2.0
// A child's answer to a call: its status, text and CPU time, then the results of the call. Third-party code makes these
// bytes, so they are untrusted: missing values read as zero, texts are cut, and the reader knows in the end whether the
// answer was valid. Pure. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/child/wire.hpp"
#include "core/host/runner.hpp"

namespace koord::child {

// Reads the beginning of every answer.
service::CallResult take_result(Unpacker& answer);

// How a child packs one of its targets, and what the host reads of it.
void add_target(Packer& out, const scrape::ScrapeTarget& target);
scrape::ScrapeTarget take_target(Unpacker& given);

// Reads the results of a call: url, targets, each of map_metrics, of map_series, of map_samples, handle.
std::string take_text(Unpacker& given);
void take_metric(Unpacker& given, scrape::ScrapedMetric& metric);
std::vector<scrape::ScrapeTarget> take_targets(Unpacker& given);
void take_series(Unpacker& given, scrape::ScrapedSeries& series);
void take_sample(Unpacker& given, scrape::ScrapedSample& sample);
// Stops at a field that the child's own side would have refused: `given` is not ok then.
void take_adjustments(Unpacker& given, const koord_hook_response& response);

}  // namespace koord::child
