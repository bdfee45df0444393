// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/counters.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace koord::criproxy {
namespace {

constexpr std::string_view kSources[] = {"agent", "hookserver"};
constexpr std::string_view kResults[] = {"changed", "unchanged", "rejected", "failed"};
constexpr std::string_view kReasons[] = {"overload", "unknown", "unreadable", "skipped", "too_large"};

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

}  // namespace

void Counters::call_ended(int status) {
  --in_flight_;
  const auto at = static_cast<std::size_t>(status);
  ++calls_[at < kStatuses ? at : kStatuses - 1];
}

void Counters::hook_asked(HookSource source, HookResult result, double seconds) {
  ++asked_[static_cast<std::size_t>(source)][static_cast<std::size_t>(result)];
  seconds_[static_cast<std::size_t>(source)].fetch_add(seconds);
}

std::uint64_t Counters::asked(HookSource source, HookResult result) const {
  return asked_[static_cast<std::size_t>(source)][static_cast<std::size_t>(result)];
}

std::string Counters::text() const {
  std::string out;
  const auto add = std::back_inserter(out);
  head(out, "koord_cri_proxy_calls_in_flight", "gauge", "Calls of CRI clients that have not ended, streams included.");
  fmt::format_to(add, "koord_cri_proxy_calls_in_flight {}\n", in_flight_.load());
  head(out, "koord_cri_proxy_calls_total", "counter", "Calls of CRI clients by the gRPC status code that they got.");
  for (std::size_t i = 0; i < kStatuses; ++i)
    if (calls_[i] > 0) fmt::format_to(add, "koord_cri_proxy_calls_total{{code=\"{}\"}} {}\n", i, calls_[i].load());
  head(out, "koord_cri_proxy_hook_requests_total", "counter", "Questions to hooks by source and result.");
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t r = 0; r < 4; ++r)
      fmt::format_to(add, "koord_cri_proxy_hook_requests_total{{source=\"{}\",result=\"{}\"}} {}\n", kSources[s],
                     kResults[r], asked_[s][r].load());
  head(out, "koord_cri_proxy_hook_seconds_total", "counter", "Time that calls waited for answers of hooks.");
  for (std::size_t s = 0; s < 2; ++s)
    fmt::format_to(add, "koord_cri_proxy_hook_seconds_total{{source=\"{}\"}} {}\n", kSources[s], seconds_[s].load());
  head(out, "koord_cri_proxy_passed_unhooked_total", "counter", "Calls that passed without asking hooks, by reason.");
  for (std::size_t r = 0; r < unhooked_.size(); ++r)
    fmt::format_to(add, "koord_cri_proxy_passed_unhooked_total{{reason=\"{}\"}} {}\n", kReasons[r],
                   unhooked_[r].load());
  head(out, "koord_cri_proxy_checkpoints_damaged_total", "counter", "Checkpoint files that were set aside.");
  fmt::format_to(add, "koord_cri_proxy_checkpoints_damaged_total {}\n", damaged_.load());
  head(out, "koord_cri_proxy_checkpoints_unwritten_total", "counter", "Checkpoints that could not be written.");
  fmt::format_to(add, "koord_cri_proxy_checkpoints_unwritten_total {}\n", unwritten_.load());
  return out;
}

}  // namespace koord::criproxy
