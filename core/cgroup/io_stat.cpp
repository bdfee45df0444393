// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/io_stat.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "core/base/parse.hpp"
#include "core/cgroup/extraction.hpp"

namespace koord::cgroup {
namespace {

// More devices than one cgroup uses on any machine. Further devices are left out.
constexpr std::size_t kMostDevices = 4096;

struct Device {
  std::uint32_t major;
  std::uint32_t minor;
};

bool parse_number(std::string_view text, std::uint32_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<Device> parse_device(std::string_view word) {
  std::size_t colon = word.find(':');
  Device device{};
  if (colon == std::string_view::npos || !parse_number(word.substr(0, colon), device.major) ||
      !parse_number(word.substr(colon + 1), device.minor))
    return std::nullopt;
  return device;
}

// Returns nullptr if the list is full.
IoStat* find_or_add(std::vector<IoStat>& stats, Device device) {
  auto found = std::find_if(stats.begin(), stats.end(), [device](const IoStat& stat) {
    return stat.major == device.major && stat.minor == device.minor;
  });
  if (found != stats.end()) return &*found;
  if (stats.size() == kMostDevices) return nullptr;
  IoStat stat;
  stat.major = device.major;
  stat.minor = device.minor;
  stats.push_back(stat);
  return &stats.back();
}

using Field = std::int64_t IoStat::*;

struct Key {
  std::string_view name;
  Field field;
};

constexpr Key kIoStatKeys[] = {{"rbytes", &IoStat::read_bytes},    {"wbytes", &IoStat::write_bytes},
                               {"dbytes", &IoStat::discard_bytes}, {"rios", &IoStat::read_ios},
                               {"wios", &IoStat::write_ios},       {"dios", &IoStat::discard_ios}};
constexpr Key kBlkioBytesKeys[] = {
    {"Read", &IoStat::read_bytes}, {"Write", &IoStat::write_bytes}, {"Discard", &IoStat::discard_bytes}};
constexpr Key kBlkioIosKeys[] = {
    {"Read", &IoStat::read_ios}, {"Write", &IoStat::write_ios}, {"Discard", &IoStat::discard_ios}};

Field find_field(std::span<const Key> keys, std::string_view name) {
  auto found = std::find_if(keys.begin(), keys.end(), [name](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : found->field;
}

// Returns a counter; kAbsent if it is negative or not a number.
std::int64_t parse_count(std::string_view text) {
  std::int64_t value = parse_value(text);
  return value < 0 ? kAbsent : value;
}

void add_blkio(std::string_view text, std::span<const Key> keys, std::vector<IoStat>& stats) {
  while (std::optional<std::string_view> line = next_field(text, '\n')) {
    std::optional<Device> device = parse_device(next_word(*line).value_or(""));
    Field field = find_field(keys, next_word(*line).value_or(""));
    std::int64_t count = parse_count(next_word(*line).value_or(""));
    if (!device || !field || count == kAbsent) continue;
    if (IoStat* stat = find_or_add(stats, *device)) stat->*field = count;
  }
}

}  // namespace

// Parses io.stat of v2. The values of a line belong to the last device before them.
std::vector<IoStat> parse_io_stat(std::string_view text) {
  std::vector<IoStat> stats;
  while (std::optional<std::string_view> line = next_field(text, '\n')) {
    std::optional<Device> device;
    while (std::optional<std::string_view> word = next_word(*line)) {
      std::size_t equals = word->find('=');
      if (equals == std::string_view::npos) {
        device = parse_device(*word);
        continue;
      }
      Field field = find_field(kIoStatKeys, word->substr(0, equals));
      std::int64_t count = parse_count(word->substr(equals + 1));
      if (!device || !field || count == kAbsent) continue;
      if (IoStat* stat = find_or_add(stats, *device)) stat->*field = count;
    }
  }
  return stats;
}

std::vector<IoStat> parse_blkio(std::string_view bytes_text, std::string_view ios_text) {
  std::vector<IoStat> stats;
  add_blkio(bytes_text, kBlkioBytesKeys, stats);
  add_blkio(ios_text, kBlkioIosKeys, stats);
  return stats;
}

}  // namespace koord::cgroup
