// SPDX-License-Identifier: Apache-2.0
// The cost of the plugin ABI in one process: a call through the host's table compared with a direct call (AB1), the
// gain of a batch (AB2), and the batch of 64 samples that most advisors send, with and without the metric cache to
// which the registry passes them.
#include <cstdint>
#include <string>
#include <vector>

#include "core/service/plugin_context.hpp"
#include "core/service/services.hpp"
#include "measure.hpp"

using namespace koord;

namespace {

constexpr std::uint32_t kSeries = 1000;
constexpr std::uint32_t kBatch = 64;
constexpr std::size_t kRounds = 7;
constexpr std::uint32_t kPointsPerRound = 2'000'000;
constexpr double kMostNsPerSample = 5;

// A host with one plugin. Its registry passes samples to a metric cache, or to nothing.
struct Host {
  explicit Host(bool with_store)
      : metrics("node", with_store ? &feed : nullptr), services{clock, {}, metrics, feed, hub, cgroups, board, {}, {}} {
    for (std::uint32_t i = 0; i < kSeries; ++i) points.push_back({series(i), i * 0.1});
  }

  std::uint64_t series(std::uint32_t number) {
    static constexpr std::string_view kName = "bench_usage", kHelp = "A bench.", kKey = "i";
    const auto str = [](std::string_view text) { return koord_str{text.data(), text.size()}; };
    const koord_metric_desc desc = {sizeof desc, KOORD_GAUGE, KOORD_METRIC_EXPORT, 0, str(kName), str(""), str(kHelp),
                                    1e-4,        nullptr};
    const std::string value = std::to_string(number);
    const koord_label label = {str(kKey), str(value)};
    std::uint32_t metric = 0;
    std::uint64_t id = 0;
    table->define(abi, &desc, &metric);
    table->series(abi, metric, KOORD_NO_SUBJECT, &label, 1, sizeof label, &id);
    return id;
  }
  void append(std::uint32_t from, std::uint32_t n) {
    failures += table->append(abi, to_ns(clock.now()), &points[from], n, sizeof(koord_point)) != KOORD_OK;
  }
  // Does the same without the ABI.
  void record(std::uint32_t from, std::uint32_t n) {
    const auto* first = reinterpret_cast<const metric::Point*>(&points[from]);
    failures += !metrics.record("bench", clock.now(), {first, n}).has_value();
  }

  SystemClock clock;
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  service::StoreFeed feed{*store};
  metric::Registry metrics;
  state::Hub hub;
  cgroup::Reader cgroups{cgroup::Layout(), clock};
  service::CapabilityBoard board;
  service::SharedServices services;
  service::PluginContext context{services, "bench", {"koord.metrics/1"}, ""};
  const koord_host* abi = context.host();
  const koord_svc_metrics* table = static_cast<const koord_svc_metrics*>(abi->get_service(abi, "koord.metrics/1"));
  std::vector<koord_point> points;
  std::uint64_t failures = 0;
};

template <class Work>
double ns_per_point(std::uint32_t points_per_call, Work work) {
  const double seconds = bench::cpu_seconds_of([&] {
    for (std::uint32_t done = 0; done < kPointsPerRound; done += points_per_call) work();
  });
  return seconds * 1e9 / kPointsPerRound;
}

template <class Work>
double ns_per_single(Work work) {
  return ns_per_point(kSeries, [&] {
    for (std::uint32_t i = 0; i < kSeries; ++i) work(i);
  });
}

void print_limit(const char* name, double ns) {
  std::printf("%-44s ours %10.3f ns/sample  target <= %.2f\n", name, ns, kMostNsPerSample);
}

}  // namespace

int main() {
  Host host(false), host_with_store(true);
  std::vector<double> single, direct, batch, batch64, batch64_direct, batch64_with_store;
  for (std::size_t round = 0; round < kRounds; ++round) {
    single.push_back(ns_per_single([&](std::uint32_t i) { host.append(i, 1); }));
    direct.push_back(ns_per_single([&](std::uint32_t i) { host.record(i, 1); }));
    batch.push_back(ns_per_point(kSeries, [&] { host.append(0, kSeries); }));
    batch64.push_back(ns_per_point(kBatch, [&] { host.append(0, kBatch); }));
    batch64_direct.push_back(ns_per_point(kBatch, [&] { host.record(0, kBatch); }));
    batch64_with_store.push_back(ns_per_point(kBatch, [&] { host_with_store.append(0, kBatch); }));
  }
  using bench::median;
  bench::print_ratio("AB1 append of one, through the table", median(single), "direct", median(direct), "ns/call", 2);
  bench::print_ratio("AB2 append, batch of 1000", median(batch), "1000 singles", median(single), "ns/sample", 0.25);
  bench::print_ratio("AB  append, batch of 64, through the table", median(batch64), "direct", median(batch64_direct),
                     "ns/sample", 2);
  print_limit("AB  append, batch of 64 (acceptance 16)", median(batch64));
  print_limit("AB  append, batch of 64, registry and cache", median(batch64_with_store));
  const bool good = median(single) <= median(direct) * 2 * 1.1 && median(batch) <= median(single) * 0.25 * 1.1;
  if (host.failures + host_with_store.failures > 0)
    std::printf("FAILED: %llu calls\n", static_cast<unsigned long long>(host.failures + host_with_store.failures));
  return good && host.failures + host_with_store.failures == 0 ? 0 : 1;
}
