// SPDX-License-Identifier: Apache-2.0
// FileWatch: a thread that reads files of the kernel every few milliseconds and keeps each value that a file had. It
// misses a value that an agent writes and reverts between two reads. Header-only.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::test {

class FileWatch {
 public:
  explicit FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)), thread_([this] { run(); }) {}
  ~FileWatch() {
    ended_ = true;
    thread_.join();
  }
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // Returns every value that the file had since the start, without surrounding white space.
  std::set<std::string> seen(const std::string& path) const {
    const std::scoped_lock lock(mutex_);
    const auto found = seen_.find(path);
    return found == seen_.end() ? std::set<std::string>() : found->second;
  }
  unsigned long readings() const { return readings_; }

 private:
  static constexpr auto kBetween = std::chrono::milliseconds(2);

  void run() {
    while (!ended_) {
      for (const std::string& path : paths_)
        if (const auto text = read_file(path)) {
          const std::scoped_lock lock(mutex_);
          seen_[path].emplace(trim(*text));
        }
      ++readings_;
      std::this_thread::sleep_for(kBetween);  // the read period; the test does not wait for anything here
    }
  }

  const std::vector<std::string> paths_;
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> seen_;
  std::atomic<bool> ended_ = false;
  std::atomic<unsigned long> readings_ = 0;
  std::thread thread_;
};

}  // namespace koord::test
