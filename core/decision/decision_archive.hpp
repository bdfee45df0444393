// SPDX-License-Identifier: Apache-2.0
// DecisionArchive: decisions on disk. A thread of its own writes them in batches, at most half a second after they were
// made, so that a deciding thread never waits for the disk. While the disk fails, the newest wait in memory, the error
// is reported, and the write is repeated. The file is created with the first decision. [any thread]
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/decision/decision.hpp"

namespace koord::decision {

class DecisionFile;

class DecisionArchive {
 public:
  struct Options {
    std::string path;
    std::uint64_t max_bytes = 32u << 20;
    Duration period = std::chrono::milliseconds(500);  // between batches
    Duration retry = std::chrono::seconds(10);         // after trouble
  };
  static constexpr std::size_t kMostWaiting = 4096;

  DecisionArchive(Options options, const Clock& clock);  // the clock outlives it
  // Writes what waits.
  ~DecisionArchive();

  void add(Decision decision);
  // From the disk and from those that wait; an error: unavailable now.
  Result<DecisionPage> find(const DecisionQuery& query);

  // Writes what waits, in this thread.
  void flush() { write(); }

  // The largest number that the file had at the start.
  std::uint64_t last_number() const { return last_number_; }

  struct Status {
    std::string problem;                   // why the disk takes nothing; empty: it does
    std::string set_aside_note;            // of a file that was set aside
    std::uint64_t bytes = 0, dropped = 0;  // of the file; decisions that were never written
  };
  Status status() const;

 private:
  void run();
  void write();
  Result<void> write_batch();
  Result<void> open();

  const Options options_;
  const Clock& clock_;
  std::uint64_t last_number_ = 0;

  std::mutex file_mutex_;               // taken before mutex_; of the file
  std::unique_ptr<DecisionFile> file_;  // null: not open

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::deque<Decision> waiting_;
  Status status_;
  bool ends_ = false;

  std::thread thread_;
};

}  // namespace koord::decision
