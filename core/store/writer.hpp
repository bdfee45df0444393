// SPDX-License-Identifier: Apache-2.0
// The writer: the one thread that owns the file. Once per journal period it seals the groups that are due and writes
// one transaction; now and then it cuts off what is too old or too much. When the disk cannot be written it lets the
// file go, keeps sealed chunks in memory and tries again, more and more rarely up to every 30 s.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.hpp"
#include "core/store/chunk_source.hpp"
#include "core/store/disk.hpp"
#include "core/store/options.hpp"
#include "core/store/state.hpp"

namespace koord::store {

class Writer {
 public:
  // `state`, `source` and `clock` must outlive the writer. open() first, then start().
  Writer(const Options& options, State& state, ChunkSource& source, const Clock& clock);
  ~Writer();  // writes everything and closes the file

  // Opens the file in the caller's thread; returns the report.
  std::string open();
  void start();

  // Waits for a whole round that begins after this call. [any thread]
  void flush();

 private:
  using Steady = std::chrono::steady_clock;

  void run();
  void round(bool last);
  std::string attach();
  void adopt(Loaded& loaded);
  void confirm_disk();
  void lose_disk(const Error& error);
  void seal_due(bool all);
  Batch take_batch();
  void write(const Batch& batch);
  void drop_changes();
  void keep_bounds();
  Result<void> cut_back();
  Result<void> cut(std::int64_t before_ms, std::size_t limit, bool& more);
  void set_memory_mode(const std::string& reason);

  const Options options_;
  State& state_;
  ChunkSource& source_;
  const Clock& clock_;

  // Used by the writer's thread only.
  std::unique_ptr<Disk> disk_;
  std::optional<std::int64_t> file_id_;  // of the file that the series numbers belong to
  Steady::time_point next_attempt_{};
  Steady::time_point next_bounds_{};
  Steady::time_point next_compact_{};
  Steady::duration backoff_{};
  bool seal_everything_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::uint64_t rounds_begun_ = 0;
  std::uint64_t rounds_done_ = 0;
  bool wanted_ = false;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace koord::store
