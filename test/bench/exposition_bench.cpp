// SPDX-License-Identifier: Apache-2.0
// Parsing an exposition compared with finding its lines: a page like a node exporter's, in the text format and in
// OpenMetrics.
#include <cstring>
#include <string>
#include <vector>

#include "core/exposition/document.hpp"
#include "core/exposition/parser.hpp"
#include "measure.hpp"

using namespace koord;
using namespace koord::exposition;

namespace {

constexpr std::size_t kRounds = 9;
constexpr std::size_t kLeastMbPerSecond = 100;

// Returns about 1 MB: gauges with few labels, counters with several, histograms.
std::string page(Syntax syntax) {
  const bool om = syntax == Syntax::open_metrics;
  std::string text;
  for (int family = 0; family < 60; ++family) {
    const std::string name = "node_example_" + std::to_string(family) + "_seconds";
    text += "# HELP " + name + " What example " + std::to_string(family) + " does.\n# TYPE " + name +
            (om ? "" : "_total") + " counter\n";
    if (!om) text.replace(text.rfind("# HELP " + name) + 7, name.size(), name + "_total");
    for (int i = 0; i < 150; ++i)
      text += name + "_total{cpu=\"" + std::to_string(i % 64) + "\",mode=\"" + (i % 2 ? "idle" : "system") +
              "\",device=\"/dev/mapper/vg" + std::to_string(i) + "\"} " + std::to_string(i * 1234567.25) + "\n";
  }
  text += "# TYPE request_seconds histogram\n";
  for (int series = 0; series < 100; ++series) {
    const std::string labels = "method=\"GET\",path=\"/api/v1/thing/" + std::to_string(series) + "\"";
    for (int bucket = 1; bucket <= 12; ++bucket)
      text += "request_seconds_bucket{" + labels + ",le=\"" + std::to_string(bucket * 0.25) + "\"} " +
              std::to_string(bucket * 100) + "\n";
    text += "request_seconds_bucket{" + labels + ",le=\"+Inf\"} 1300\nrequest_seconds_sum{" + labels +
            "} 12.5\nrequest_seconds_count{" + labels + "} 1300\n";
  }
  return om ? text + "# EOF\n" : text;
}

std::size_t find_lines(const std::string& text) {
  std::size_t lines = 0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (const void* feed = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
    at = static_cast<const char*>(feed) + 1;
    ++lines;
  }
  return lines;
}

std::size_t pull(const std::string& text, Syntax syntax) {
  Parser parser(text, syntax);
  std::size_t samples = 0;
  for (;;) {
    Result<Entry> entry = parser.next();
    if (!entry) std::abort();
    if (*entry == Entry::end) return samples;
    samples += *entry == Entry::sample;
  }
}

template <class Work>
double seconds_of(Work work) {
  std::vector<double> rounds;
  for (std::size_t round = 0; round < kRounds; ++round) rounds.push_back(bench::cpu_seconds_of([&] { work(); }));
  return bench::median(rounds);
}

bool measure(const char* name, Syntax syntax) {
  const std::string text = page(syntax);
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::size_t lines = 0, samples = 0;
  const double bare = seconds_of([&] {
                        for (int i = 0; i < 20; ++i) lines += find_lines(text);
                      }) /
                      20;
  const double pulled = seconds_of([&] { samples += pull(text, syntax); });
  const double read = seconds_of([&] { samples += Document::read(text, syntax)->samples().size(); });
  if (lines == 0 || samples == 0) std::abort();
  std::printf("%-44s %.2f MB, parser %.0f MB/s (target >= %zu), document %.0f MB/s\n", name, megabytes,
              megabytes / pulled, kLeastMbPerSecond, megabytes / read);
  bench::print_ratio(std::string(name) + " parser", pulled * 1e3, "memchr loop over lines", bare * 1e3, "ms", 60);
  return megabytes / pulled >= static_cast<double>(kLeastMbPerSecond);
}

}  // namespace

int main() {
  const bool text = measure("EX1 exposition, text 0.0.4", Syntax::text);
  const bool open_metrics = measure("EX1 exposition, OpenMetrics", Syntax::open_metrics);
  return text && open_metrics ? 0 : 1;
}
