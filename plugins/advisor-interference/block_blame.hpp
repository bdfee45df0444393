// SPDX-License-Identifier: Apache-2.0
// BlockBlame owns the programs of bpf/block_blame; its destructor unloads them. They measure how long the requests of
// each cgroup to block devices took, and which cgroups had requests in flight meanwhile. Used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/latency/slot_programs.hpp"

namespace koord::interference {

enum class Direction { read, write };

// All values below are differences since the last reading.

// Completed requests of a cgroup on a device in one direction.
struct BlockStream {
  std::uint64_t cgroup = 0;  // inode number of the cgroup's directory; 0: unknown
  std::uint32_t device = 0;  // major << 20 | minor
  Direction direction{};
  std::uint64_t bytes = 0;
  latency::Histogram latency;
  std::uint64_t alone_requests = 0, alone_ns = 0;  // requests while no other cgroup had requests there
  double own_requests = 0;                         // parts that are charged to the cgroup itself
  std::uint64_t own_ns = 0;
};

// The part of a victim's requests that is charged to a different cgroup.
struct BlockPart {
  std::uint64_t victim = 0;
  std::uint32_t device = 0;
  Direction direction{};
  std::uint64_t culprit = 0;  // 0: the requests have no cgroup (flushes), or their cgroup has no slot or has ended
  double requests = 0;
  std::uint64_t ns = 0;
};

struct BlockReading {
  std::vector<BlockStream> streams;
  std::vector<BlockPart> parts;
  std::uint64_t lost = 0;  // requests that the programs could not charge, since the programs started
};

class BlockBlame {
 public:
  static constexpr std::uint32_t kRows = 4096, kPairs = 8192, kDevices = 256, kRequests = 16384, kWaits = 4096;

  // Loads the programs. `tree`: hierarchy of the blkio controller. Fails with the reason if the kernel refuses the
  // programs.
  static Result<BlockBlame> open(const latency::CgroupTree& tree, const std::string& btf = {});

  Result<BlockReading> read();

 private:
  explicit BlockBlame(latency::SlotPrograms programs) : programs_(std::move(programs)) {}

  latency::SlotPrograms programs_;
};

}  // namespace koord::interference
