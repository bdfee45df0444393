// SPDX-License-Identifier: Apache-2.0
// SampleRing: batches of points on their way from a child to the host, in shared memory. The child writes, the host
// reads; neither waits for the other. The memory is of fixed size, so a reader never touches missing pages; the host
// copies before it checks, and an invalid ring is an error, not a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "koordetector/plugin.h"

namespace koord::child {

class SampleRing {
 public:
  static constexpr std::size_t kBytes = 256u << 10;                                 // of batches: 16,000 points
  static constexpr std::size_t kMaxBatches = kBytes / (2 * sizeof(std::uint64_t));  // at once, of no points
  static constexpr std::size_t kMaxPoints = 4000;  // of one batch; more is sent as a message

  static Result<SampleRing> make();               // the host's side
  static Result<SampleRing> attach(UniqueFd fd);  // the child's
  int fd() const { return fd_.get(); }

  // [child, any thread] False: there is no room, the batch is dropped and counted.
  bool push(std::uint64_t t_ns, std::span<const koord_point> points);

  struct Batch {
    std::uint64_t t_ns = 0;
    std::vector<koord_point> points;
  };
  // [host, one thread at a time] nullopt: empty.
  Result<std::optional<Batch>> pop();
  // How many batches found no room since the last time it was asked.
  std::uint64_t take_dropped();

 private:
  struct Shared;
  struct Unmap {
    void operator()(Shared* shared) const;
  };
  SampleRing(UniqueFd fd, Shared* shared);
  static Result<SampleRing> map(UniqueFd fd);

  UniqueFd fd_;
  std::unique_ptr<Shared, Unmap> shared_;
  std::unique_ptr<std::mutex> pushing_ = std::make_unique<std::mutex>();
  std::uint64_t read_ = 0;     // the host's own count: the child's is not used
  std::uint64_t dropped_ = 0;  // reported so far
};

}  // namespace koord::child
