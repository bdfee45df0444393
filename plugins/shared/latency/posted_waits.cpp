// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/posted_waits.hpp"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace koord::latency {
namespace {

// All numbers are in base 128, the lowest digit first. 128 is added to each digit except the last one.
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kMostCgroups = 65535;
constexpr int kDigitBits = 7;

Error damaged(const std::string& why) { return invalid("posted waits: " + why); }

void put(std::string& text, std::uint64_t number) {
  for (; number >> kDigitBits != 0; number >>= kDigitBits) text += static_cast<char>(number | 0x80);
  text += static_cast<char>(number);
}

Result<std::uint64_t> take(std::string_view& rest) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += kDigitBits) {
    const auto byte = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    const std::uint64_t digit = byte & 0x7fu;
    if (digit << shift >> shift != digit || (byte == 0 && shift > 0)) return damaged("a number is too long");
    number |= digit << shift;
    if (byte < 0x80) return number;
  }
  return damaged("a number has no end");
}

// Appends the waits. Empty buckets are left out, because most buckets are empty.
void put(std::string& text, const Waits& waits) {
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < kBuckets; ++i)
    if (waits.buckets[i] != 0) used |= std::uint64_t{1} << i;
  put(text, waits.throttled_ns);
  put(text, waits.sum_ns);
  put(text, used);
  for (std::uint64_t count : waits.buckets)
    if (count != 0) put(text, count);
}

Result<Waits> take_waits(std::string_view& rest) {
  Waits waits;
  waits.throttled_ns = TRY(take(rest));
  waits.sum_ns = TRY(take(rest));
  const std::uint64_t used = TRY(take(rest));
  if (used >> kBuckets != 0) return damaged("a bucket is unknown");
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if ((used >> i & 1) == 0) continue;
    waits.buckets[i] = TRY(take(rest));
    if (waits.buckets[i] == 0) return damaged("a bucket that should be left out");
  }
  waits.count = std::accumulate(waits.buckets.begin(), waits.buckets.end(), std::uint64_t{0});
  return waits;
}

void put(std::string& text, const std::vector<CgroupTotal<Waits>>& cgroups) {
  put(text, cgroups.size());
  for (const CgroupTotal<Waits>& one : cgroups) {
    put(text, one.cgroup);
    put(text, one.total);
  }
}

Result<std::vector<CgroupTotal<Waits>>> take_cgroups(std::string_view& rest) {
  const std::uint64_t n = TRY(take(rest));
  if (n > kMostCgroups)
    return damaged(std::to_string(n) + " cgroups, expected at most " + std::to_string(kMostCgroups));
  std::vector<CgroupTotal<Waits>> cgroups;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t cgroup = TRY(take(rest));
    const Waits total = TRY(take_waits(rest));
    cgroups.push_back({cgroup, total});
  }
  return cgroups;
}

Result<std::uint32_t> take_slots(std::string_view& rest) {
  const std::uint64_t slots = TRY(take(rest));
  if (slots > kMostCgroups) return damaged(std::to_string(slots) + " slots");
  return static_cast<std::uint32_t>(slots);
}

}  // namespace

std::string write_posted_waits(const PostedWaits& posted) {
  const Reading<Waits>& reading = posted.reading;
  std::string text;
  for (std::uint64_t number : {kVersion, posted.session, posted.number, reading.lost_begins, reading.missed_events,
                               std::uint64_t{reading.slots}, std::uint64_t{reading.slots_used}})
    put(text, number);
  put(text, reading.unassigned.value_or(Waits{}));
  put(text, reading.cgroups);
  put(text, reading.ended);
  return text;
}

Result<PostedWaits> read_posted_waits(std::string_view text) {
  const std::uint64_t version = TRY(take(text));
  if (version != kVersion)
    return damaged("version " + std::to_string(version) + ", expected " + std::to_string(kVersion));
  PostedWaits posted;
  posted.session = TRY(take(text));
  posted.number = TRY(take(text));
  posted.reading.lost_begins = TRY(take(text));
  posted.reading.missed_events = TRY(take(text));
  posted.reading.slots = TRY(take_slots(text));
  posted.reading.slots_used = TRY(take_slots(text));
  posted.reading.unassigned = TRY(take_waits(text));
  posted.reading.cgroups = TRY(take_cgroups(text));
  posted.reading.ended = TRY(take_cgroups(text));
  if (!text.empty()) return damaged(std::to_string(text.size()) + " bytes too many");
  return posted;
}

}  // namespace koord::latency
