// SPDX-License-Identifier: Apache-2.0
// One scrape of 10,000 and 50,000 series: the agent's writer compared with prometheus-cpp with the same series (EX1),
// with gzip compared with zlib alone on the same bytes (EX2), and the memory of a scrape in addition to the size of its
// text (EX3).
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/http/gzip.hpp"
#include "core/metric/registry.hpp"
#include "measure.hpp"

using namespace koord;
using namespace koord::metric;

namespace {

constexpr std::size_t kRounds = 7;
constexpr std::size_t kFamilies = 4;

bool all_met = true;

template <class Work>
double ms(Work work) {
  return bench::cpu_seconds_of(work) * 1e3;
}

void print(const std::string& name, double ours, const char* reference_name, double reference, const char* unit,
           double target) {
  all_met = all_met && ours / reference <= target * 1.1;
  bench::print_ratio(name, ours, reference_name, reference, unit, target);
}

Labels labels_of(std::size_t i) {
  char id[65];
  std::snprintf(id, sizeof id, "%064zx", i * 2654435761u);
  std::string number = std::to_string(i);
  return {{"container_id", "containerd://" + std::string(id)},
          {"container_name", "app"},
          {"pod_uid", "uid-" + number},
          {"pod_name", "app-" + number},
          {"pod_namespace", "default"}};
}

double value_of(std::size_t i) { return static_cast<double>(i) * 0.0137; }

void fill(Registry& registry, std::size_t series) {
  std::vector<Point> points;
  for (std::size_t f = 0; f < kFamilies; ++f) {
    auto metric =
        registry.define("bench", {.name = "usage_" + std::to_string(f), .help = "A bench.", .resolution = 1e-4});
    for (std::size_t i = 0; i < series / kFamilies; ++i)
      points.push_back({*registry.series("bench", *metric, {i + 1, labels_of(i)}), value_of(i)});
  }
  (void)registry.record("bench", from_ns(1), points);
}

void fill(prometheus::Registry& registry, std::size_t series) {
  for (std::size_t f = 0; f < kFamilies; ++f) {
    auto& family =
        prometheus::BuildGauge().Name("koordetector_usage_" + std::to_string(f)).Help("A bench.").Register(registry);
    for (std::size_t i = 0; i < series / kFamilies; ++i) {
      Labels labels = labels_of(i);
      labels.emplace_back("node", "node");
      family.Add({labels.begin(), labels.end()}).Set(value_of(i));
    }
  }
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

// Compresses with one call of zlib, into a buffer of the size that zlib requests.
void compress_plainly(const std::string& text, std::string& out) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  out.resize(deflateBound(&stream, text.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
}

void measure(std::size_t series) {
  Registry registry("node");
  registry.set_budget("bench", series);
  fill(registry, series);
  const std::string title = std::to_string(series) + " series";

  double before = resident_bytes();
  std::string text;
  registry.write_text(text, from_ns(1));
  double extra = resident_bytes() - before;

  prometheus::Registry reference;
  fill(reference, series);
  std::string packed;
  std::vector<double> ours, theirs, ours_packed, zlib_alone;
  for (std::size_t round = 0; round < kRounds; ++round) {
    theirs.push_back(ms([&] { (void)prometheus::TextSerializer().Serialize(reference.Collect()); }));
    ours.push_back(ms([&] {
      std::string out;
      registry.write_text(out, from_ns(1));
    }));
    zlib_alone.push_back(ms([&] { compress_plainly(text, packed); }));
    ours_packed.push_back(ms([&] {
      std::string out;
      registry.write_text(out, from_ns(1));
      (void)http::gzip(out);
    }));
  }
  print("EX1 text of " + title, bench::median(ours), "prometheus-cpp", bench::median(theirs), "ms", 0.05);
  print("EX2 scrape with gzip, " + title, bench::median(ours_packed), "zlib 1 alone", bench::median(zlib_alone), "ms",
        1.3);
  print("EX3 memory of a scrape, " + title, extra / 1e6, "its text", static_cast<double>(text.size()) / 1e6, "MB", 2);
}

}  // namespace

int main() {
  measure(10'000);
  measure(50'000);
  return all_met ? 0 : 1;
}
