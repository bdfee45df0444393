// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/block_blame.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bpf/include/latency_slots.h"

#include "bpf/block_blame/block_blame.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "bpf/block_blame/block_blame.skel.h"
#pragma GCC diagnostic pop

namespace koord::interference {
namespace {

using latency::CgroupSlots;
using latency::SlotOwner;

static_assert(latency::kBuckets == LATENCY_BUCKETS);
static_assert(sizeof(block_blame_row_key) == 8);
static_assert(sizeof(block_blame_pair_key) == 8);
static_assert(sizeof(block_blame_row) == std::size_t{8} * BLOCK_BLAME_DIRECTIONS * (7 + LATENCY_BUCKETS));

constexpr std::array kDirections = {Direction::read, Direction::write};
static_assert(kDirections.size() == BLOCK_BLAME_DIRECTIONS);

const latency::ProgramSource kBlockPrograms = {
    "btf_tracepoint",
    {"on_cgroup_rmdir", "blame_on_complete", "leave_on_merge", "return_on_requeue", "blame_on_issue", "blame_on_insert",
     "wait_until_request", "wait_on_submission"},
    {}};

double requests_of(std::uint64_t parts) { return static_cast<double>(parts) / BLOCK_BLAME_REQUEST; }

BlockStream stream_of(const block_blame_stream& from) {
  BlockStream stream{.bytes = from.bytes,
                     .latency = {.count = from.requests, .sum_ns = from.ns},
                     .alone_requests = from.alone_requests,
                     .alone_ns = from.alone_ns,
                     .own_requests = requests_of(from.own_requests),
                     .own_ns = from.own_ns};
  std::copy(std::begin(from.buckets), std::end(from.buckets), stream.latency.buckets.begin());
  return stream;
}

// Removes entries of a hash and calls visit(key, value) for each. Programs may add entries meanwhile, so at most `most`
// entries are removed.
template <class Key, class Value, class Visit>
Result<void> take_each(int map, std::uint32_t most, Visit&& visit) {
  constexpr std::uint32_t kPlaces = 128;
  std::vector<Key> keys(kPlaces);
  std::vector<Value> values(kPlaces);
  for (std::uint32_t n = 0; n < most;) {
    const bpf::Taken taken = TRY(bpf::take_some(map, kPlaces, keys.data(), values.data()));
    for (std::uint32_t i = 0; i < taken.count; ++i) visit(keys[i], values[i]);
    n += taken.count;
    if (taken.is_empty || taken.count == 0) break;
  }
  return {};
}

// Reads the maps. The reading has slots instead of cgroups until their owners are known.
Result<BlockReading> take(const latency::SlotPrograms& programs) {
  BlockReading reading;
  const auto take_row = [&](const block_blame_row_key& key, const block_blame_row& row) {
    for (std::size_t d = 0; d < kDirections.size(); ++d) {
      if (row.streams[d].requests == 0) continue;
      BlockStream& stream = reading.streams.emplace_back(stream_of(row.streams[d]));
      stream.cgroup = key.slot;
      stream.device = key.device;
      stream.direction = kDirections[d];
    }
  };
  const auto take_pair = [&](const block_blame_pair_key& key, const block_blame_pair& pair) {
    for (std::size_t d = 0; d < kDirections.size(); ++d)
      if (pair.ns[d] > 0)
        reading.parts.push_back(
            {key.victim, key.device, kDirections[d], key.culprit, requests_of(pair.requests[d]), pair.ns[d]});
  };
  TRY((take_each<block_blame_row_key, block_blame_row>(programs.map("rows"), BlockBlame::kRows, take_row)));
  TRY((take_each<block_blame_pair_key, block_blame_pair>(programs.map("pairs"), BlockBlame::kPairs, take_pair)));
  return reading;
}

// Returns the slots of cgroups with requests in flight. A request without a seen completion counts until its memory is
// used for a different request. Each device counts for a few cgroups, so at most half of all slots are in the result.
Result<std::unordered_set<std::uint32_t>> slots_in_flight(const latency::SlotPrograms& programs) {
  std::vector<std::uint32_t> keys(BlockBlame::kDevices);
  std::vector<block_blame_device> devices(BlockBlame::kDevices);
  const std::uint32_t n =
      TRY(bpf::read_hash(programs.map("devices"), BlockBlame::kDevices, keys.data(), devices.data()));
  std::unordered_set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::size_t place = 0; place < BLOCK_BLAME_CGROUPS; ++place)
      if (const std::uint64_t entry = devices[i].entries[place]; static_cast<std::uint32_t>(entry) > 0)
        slots.insert(static_cast<std::uint32_t>(entry >> 32));
  return slots;
}

}  // namespace

Result<BlockBlame> BlockBlame::open(const latency::CgroupTree& tree, const std::string& btf) {
  latency::SlotObject object{.kinds = 0,
                             .map_entries = {{"requests", kRequests},
                                             {"waited_bios", kWaits},
                                             {"devices", kDevices},
                                             {"rows", kRows},
                                             {"pairs", kPairs}},
                             .slot_bytes = sizeof(block_blame_row)};
  object.file.name = "block_blame";
  object.file.bytes = block_blame__elf_bytes(&object.file.size);
  return BlockBlame(TRY(latency::SlotPrograms::open(object, kBlockPrograms, tree, {btf, 0, {}})));
}

// Reads the slots after the other maps, so each cgroup in the other maps has a slot.
Result<BlockReading> BlockBlame::read() {
  BlockReading reading = TRY(take(programs_));
  CgroupSlots& slots = programs_.slots();
  // Slots that the previous reading could not free. Their cgroups had ended before that reading and are unknown to the
  // callers.
  std::unordered_set<std::uint32_t> left_over;
  for (const SlotOwner& owner : slots.ended()) left_over.insert(owner.slot);
  TRY(slots.refresh());
  std::unordered_map<std::uint32_t, std::uint64_t> cgroups;
  for (const SlotOwner& owner : slots.living()) cgroups[owner.slot] = owner.cgroup;
  for (const SlotOwner& owner : slots.ended())
    if (!left_over.contains(owner.slot)) cgroups[owner.slot] = owner.cgroup;

  const auto to_cgroup = [&cgroups](std::uint64_t& slot) {
    const auto found = cgroups.find(static_cast<std::uint32_t>(slot));
    slot = found == cgroups.end() ? 0 : found->second;
  };
  for (BlockStream& stream : reading.streams) to_cgroup(stream.cgroup);
  for (BlockPart& part : reading.parts) {
    to_cgroup(part.victim);
    to_cgroup(part.culprit);
  }
  reading.lost = slots.lost_begins() + programs_.missed();
  // Slots with requests in flight are not freed, because a new owner would be charged for these requests.
  if (slots.ended().empty()) return reading;
  const std::unordered_set<std::uint32_t> in_use = TRY(slots_in_flight(programs_));
  TRY(slots.free_ended(in_use));
  return reading;
}

}  // namespace koord::interference
