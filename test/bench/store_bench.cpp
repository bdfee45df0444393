// SPDX-License-Identifier: Apache-2.0
// The metric cache compared with SQLite with one row per sample, and with itself at other sizes. Prints one line per
// measurement: name, ours, reference, ratio, target. `--full` adds 50,000 series; without `--full` the run takes less
// than a minute.
#include <malloc.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/store/store.hpp"

using namespace koord;
using namespace koord::store;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Directory {
  fs::path path;
  Directory() {
    std::string name = (fs::temp_directory_path() / "koord-bench-store-XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    path = name;
  }
  ~Directory() { fs::remove_all(path); }
};

double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <class Work>
double cpu_of(Work work) {
  double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}

double number_in(const char* file, const char* key) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == key) {
      double value = 0;
      in >> value;
      return value;
    }
  return 0;
}
double resident_bytes() {
  ::malloc_trim(0);  // memory that the measurement has freed must not count
  return number_in("/proc/self/status", "VmRSS:") * 1024;
}
double written_bytes() { return number_in("/proc/self/io", "wchar:"); }

void line(const char* name, double ours, const char* unit, double reference, double target) {
  double ratio = reference > 0 ? ours / reference : ours;
  std::printf("%-58s %12.2f %-9s %12.2f %10.4f  <= %-8.4g %s\n", name, ours, unit, reference, ratio, target,
              ratio <= target ? "ok" : "MISSED");
  std::fflush(stdout);
}

// 40 % CPU usage (noisy, 30 % near idle), 40 % memory in pages (35 % unchanged), 10 % counters, 10 % constants.
struct Model {
  std::mt19937_64 random{1};
  std::vector<double> state;
  explicit Model(std::size_t series) : state(series) {}

  double next(std::size_t i) {
    double& value = state[i];
    double noise = static_cast<double>(random() % 2000) / 1000 - 1;
    switch (i % 10) {
      case 0:
      case 1:
      case 2:
      case 3:
        return value = i % 3 == 0 ? 0.001 : 0.9 * value + 0.05 + 0.02 * noise;
      case 4:
      case 5:
      case 6:
      case 7:
        if (value == 0) value = 50'000;
        if (random() % 100 >= 35) value += std::round(noise * 20);
        return value;
      case 8:
        return value += static_cast<double>(random() % 1000);
      default:
        return 4096;
    }
  }
  static const char* metric(std::size_t i) {
    return i % 10 < 4 ? "cpu_usage" : i % 10 < 8 ? "memory_pages" : i % 10 < 9 ? "counter" : "constant";
  }
  static double resolution(std::size_t i) { return i % 10 < 4 ? 1e-4 : 1; }
};

struct Run {
  Directory directory;
  ManualClock clock;
  Options options;
  std::unique_ptr<Store> store;
  Model model;
  std::size_t series;
  std::vector<std::vector<Sample>> ticks;  // made before the measurement

  Run(std::size_t n, bool journal) : model(n), series(n) {
    options.path = directory.path / "metrics.db";
    options.journal_period = 1h;
    options.journal = journal;
    options.max_bytes = 4ull << 30;
    open();
  }
  void open() {
    store = std::move(*Store::open(options, clock));
    begin();
  }
  void begin() {
    char id[80];
    for (std::size_t i = 0; i < series; ++i) {
      std::snprintf(id, sizeof id, "containerd://%064zx", i / 10 * 2654435761u);
      Labels labels{{"node", "node-1"},
                    {"container_id", id},
                    {"pod_uid", std::to_string(i / 30)},
                    {"pod_namespace", "default"},
                    {"slot", std::to_string(i % 10)}};
      (void)store->begin_series(static_cast<std::uint32_t>(i), {Model::metric(i), "1", Model::resolution(i), labels});
    }
  }
  void prepare(std::size_t count) {
    ticks.assign(count, {});
    for (auto& tick : ticks)
      for (std::size_t i = 0; i < series; ++i) tick.push_back({static_cast<std::uint32_t>(i), model.next(i)});
  }
  // Appends one tick: one row of every series and one round of the writer, as at 1 Hz.
  void append() {
    for (auto& tick : ticks) {
      (void)store->append(clock.now(), tick);
      clock.advance(1s + std::chrono::milliseconds(model.random() % 3));
      store->flush();
    }
  }
  double append_ns(std::size_t count) {
    double cpu = 0;
    for (std::size_t done = 0; done < count; done += 60) {
      prepare(60);
      cpu += cpu_of([this] { append(); });
    }
    return cpu * 1e9 / static_cast<double>(count * series);
  }
};

// Uses one row per sample and one transaction per tick. `by_series`: the key is (series, ts), otherwise (ts, series).
double rows_ns(std::size_t series, std::size_t ticks, bool by_series) {
  Directory directory;
  sqlite3* db = nullptr;
  sqlite3_open((directory.path / "rows.db").c_str(), &db);
  std::string table = std::string("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384;"
                                  "CREATE TABLE s(series INTEGER, ts INTEGER, value REAL, PRIMARY KEY(") +
                      (by_series ? "series, ts" : "ts, series") + ")) WITHOUT ROWID";
  sqlite3_exec(db, table.c_str(), nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO s VALUES(?1,?2,?3)", -1, &insert, nullptr);
  double cpu = cpu_of([&] {
    for (std::size_t tick = 0; tick < ticks; ++tick) {
      sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr);
      for (std::size_t i = 0; i < series; ++i) {
        sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(i));
        sqlite3_bind_int64(insert, 2, static_cast<sqlite3_int64>(1'700'000'000'000 + tick * 1000));
        sqlite3_bind_double(insert, 3, static_cast<double>(i) * 0.1);
        sqlite3_step(insert);
        sqlite3_reset(insert);
      }
      sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
    }
  });
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return cpu * 1e9 / static_cast<double>(series * ticks);
}

// A table of rows gets slower when it grows beyond the cache. This many ticks are enough for that.
constexpr std::size_t kReferenceTicks = 240;

constexpr Aggregation kThree[] = {Aggregation::avg, Aggregation::p95, Aggregation::last};

template <class Work>
double median_us(std::size_t count, Work work) {
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round)
    rounds.push_back(cpu_of([&] {
      for (std::size_t i = 0; i < count; ++i) work(i);
    }));
  std::nth_element(rounds.begin(), rounds.begin() + 2, rounds.end());
  return rounds[2] * 1e6 / static_cast<double>(count);
}

// Measures the minimum work for an answer from memory.
double reference_query_us() {
  constexpr std::size_t kSeries = 20'000, kSamples = 300;
  std::vector<double> all(kSeries * kSamples);
  std::mt19937_64 random(3);
  for (double& value : all) value = static_cast<double>(random() % 10'000);
  volatile double sink = 0;
  return median_us(kSeries, [&](std::size_t i) {
    std::vector<double> copy(all.begin() + static_cast<std::ptrdiff_t>(i * kSamples),
                             all.begin() + static_cast<std::ptrdiff_t>((i + 1) * kSamples));
    double sum = 0;
    for (double value : copy) sum += value;
    std::nth_element(copy.begin(), copy.begin() + 284, copy.end());
    sink = sum + copy[284];
  });
}

double memory_query_us(const Run& run) {
  Time to = run.clock.now(), from = to - 300s;
  return median_us(run.series, [&](std::size_t i) {
    (void)run.store->aggregate_series(static_cast<std::uint32_t>(i), kThree, from, to);
  });
}

double disk_query_us(const Run& run) {
  Time to = run.clock.now() - 480s, from = to - 300s;
  return median_us(std::min<std::size_t>(run.series, 2000), [&](std::size_t i) {
    (void)run.store->aggregate_series(static_cast<std::uint32_t>(i * 7 % run.series), kThree, from, to);
  });
}

double all_series_ns(const Run& run) {
  Time to = run.clock.now(), from = to - 300s;
  double us = median_us(1, [&](std::size_t) {
    for (const char* metric : {"cpu_usage", "memory_pages", "counter", "constant"})
      (void)run.store->aggregate({metric, {}, from, to}, kThree);
  });
  return us * 1000 / static_cast<double>(run.series);
}

// A killed process leaves the same files as a flush, so this opens a copy of them.
double reopen_ms(const Run& run) {
  std::vector<double> rounds;
  for (int round = 0; round < 3; ++round) {
    Directory copy;
    for (const char* suffix : {"", "-wal"}) {
      std::error_code none;
      fs::copy_file(run.options.path + suffix, (copy.path / "metrics.db").string() + suffix, none);
    }
    ::sync();  // otherwise the time would include the copying
    Options options = run.options;
    options.path = copy.path / "metrics.db";
    auto begin = std::chrono::steady_clock::now();
    auto store = Store::open(options, run.clock);
    rounds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[1];
}

struct Measured {
  double append_ns, all_ns, reopen_ms;
};

Measured measure(std::size_t series, std::size_t ticks) {
  std::printf("-- %zu series, %zu ticks\n", series, ticks);
  double memory = resident_bytes();
  Run run(series, true);
  double written = written_bytes();
  Measured measured{};
  measured.append_ns = run.append_ns(ticks);
  written = written_bytes() - written;
  run.ticks.clear();
  run.ticks.shrink_to_fit();
  memory = resident_bytes() - memory;
  double samples = static_cast<double>(series * ticks);
  line("MC1 append, against rows keyed (series, ts)", measured.append_ns, "ns", rows_ns(series, kReferenceTicks, true),
       1.0 / 100);
  line("MC2 append, against rows keyed (ts, series)", measured.append_ns, "ns", rows_ns(series, kReferenceTicks, false),
       1.0 / 10);
  line("MC5 bytes written per sample, journal on", written / samples, "B", 0, 16);
  double reference = reference_query_us();
  double query = memory_query_us(run);
  line("MC7 avg+p95+last of 5 min, one series, memory", query, "us", reference, 1.5);
  if (ticks > 800) line("MC8 the same from disk, against memory", disk_query_us(run), "us", query, 10);
  measured.all_ns = all_series_ns(run);
  measured.reopen_ms = reopen_ms(run);
  line("MC11 memory per series, five minutes of rows", memory / static_cast<double>(series), "B", 0, 3500);
  Stats stats = run.store->stats();
  if (stats.dropped_samples > 0)
    std::printf("dropped %llu samples\n", static_cast<unsigned long long>(stats.dropped_samples));
  run.store.reset();
  if (ticks > 800)
    line("MC4 file bytes per sample, names included", static_cast<double>(fs::file_size(run.options.path)) / samples,
         "B", 0, 2);
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  bool full = argc > 1 && std::strcmp(argv[1], "--full") == 0;
  std::size_t large = full ? 50'000 : 10'000;
  std::printf("%-58s %12s %-9s %12s %10s  %s\n", "measure", "ours", "unit", "reference", "ratio", "target");
  Measured big = measure(large, full ? 480 : 360);
  Measured small = measure(2'000, 1'200);
  std::printf("-- %zu series against 2000\n", large);
  line("MC3 append, ns per sample", big.append_ns, "ns", small.append_ns, 1.5);
  line("MC9 all series of 5 min from memory, ns per series", big.all_ns, "ns", small.all_ns, 1.3);
  line("MC10 reopen after a kill", big.reopen_ms, "ms", small.reopen_ms, 40);
  Run quiet(2'000, false);
  double written = written_bytes();
  quiet.append_ns(480);
  line("MC5 bytes written per sample, journal off", (written_bytes() - written) / (2'000.0 * 480), "B", 0, 10);
  return 0;
}
