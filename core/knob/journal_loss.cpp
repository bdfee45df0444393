// SPDX-License-Identifier: Apache-2.0
// File formats: sqlite.org/fileformat2.html, sections 1.6 (b-tree pages), 2.1 (records) and 4.1 (the write-ahead log).
#include "core/knob/journal_loss.hpp"

#include <algorithm>
#include <cstddef>

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {
namespace {

constexpr std::size_t kLogHeader = 32, kFrameHeader = 24, kSalts = 8;
constexpr std::uint32_t kLogMagic = 0x377f0682;  // its last bit: checksums are of big-endian words
constexpr std::size_t kMostNamed = 5;

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::uint32_t word(std::string_view bytes, std::size_t at) { return static_cast<std::uint32_t>(big_endian(bytes, at, 4)); }

// The running checksum of a log.
struct LogChecksum {
  bool is_big_endian;
  std::uint32_t first = 0, second = 0;

  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += native(bytes, at) + second;
      second += native(bytes, at + 4) + first;
    }
  }
  std::uint32_t native(std::string_view bytes, std::size_t at) const {
    const std::uint32_t number = word(bytes, at);
    return is_big_endian ? number : __builtin_bswap32(number);
  }
  bool is(std::string_view bytes, std::size_t at) const { return word(bytes, at) == first && word(bytes, at + 4) == second; }
};

// Where the last whole transaction ends; 0: the header itself is damaged.
std::size_t end_of_commits(std::string_view log, std::size_t frame_size) {
  LogChecksum checksum{(word(log, 0) & 1) != 0};
  checksum.add(log.substr(0, 24));
  if (!checksum.is(log, 24)) return 0;
  std::size_t end = kLogHeader;
  for (std::size_t at = kLogHeader; at + frame_size <= log.size(); at += frame_size) {
    const std::string_view frame = log.substr(at, frame_size);
    checksum.add(frame.substr(0, 8));
    checksum.add(frame.substr(kFrameHeader));
    if (frame.substr(8, kSalts) != log.substr(16, kSalts) || !checksum.is(frame, 16)) return end;
    if (word(frame, 4) != 0) end = at + frame_size;
  }
  return end;
}

// A SQLite varint at `at`, which moves behind it; nullopt: the bytes end first.
std::optional<std::uint64_t> take_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (int i = 0; i < 9 && at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return number << 8 | byte;
    number = number << 7 | (byte & 0x7f);
    if ((byte & 0x80) == 0) return number;
  }
  return std::nullopt;
}

// The first three columns of a record, if they are texts and all there.
std::optional<KnobKey> key_at(std::string_view page, std::size_t at) {
  if (!take_varint(page, at)) return std::nullopt;  // the record's size
  const std::size_t header = at;
  const std::optional<std::uint64_t> header_size = take_varint(page, at);
  if (!header_size || *header_size > page.size()) return std::nullopt;
  std::size_t value = header + *header_size;
  KnobKey key;
  for (std::string* column : {&key.cgroup_dir, &key.resource, &key.item}) {
    const std::optional<std::uint64_t> type = take_varint(page, at);
    if (!type || *type < 13 || *type % 2 == 0) return std::nullopt;
    const std::uint64_t size = (*type - 13) / 2;
    if (value > page.size() || size > page.size() - value) return std::nullopt;
    *column = page.substr(value, size);
    value += size;
  }
  const bool is_knob = find_knob(key.resource) != nullptr && cgroup::is_cgroup(key.cgroup_dir);
  return is_knob ? std::optional(std::move(key)) : std::nullopt;
}

}  // namespace

std::vector<KnobKey> keys_in_page(std::string_view page) {
  constexpr char kLeafOfTableWithoutRowid = 0x0a;
  constexpr std::size_t kPageHeader = 8;
  std::vector<KnobKey> keys;
  if (page.size() < kPageHeader || page[0] != kLeafOfTableWithoutRowid) return keys;
  const std::uint64_t cells = big_endian(page, 3, 2);
  for (std::size_t i = 0; i < cells && kPageHeader + 2 * i + 2 <= page.size(); ++i)
    if (std::optional<KnobKey> key = key_at(page, big_endian(page, kPageHeader + 2 * i, 2))) keys.push_back(*std::move(key));
  return keys;
}

std::optional<TornTail> torn_tail(std::string_view log) {
  if (log.empty()) return std::nullopt;
  TornTail tail{.bytes = log.size(), .knobs = {}};
  if (log.size() < kLogHeader || (word(log, 0) & ~1u) != kLogMagic) return tail;
  const std::size_t page_size = word(log, 8), frame_size = kFrameHeader + page_size;
  const bool is_page_size = page_size >= 512 && page_size <= 65536 && page_size % 8 == 0;
  const std::size_t end = is_page_size ? end_of_commits(log, frame_size) : 0;
  if (end == 0) return tail;
  tail.bytes = 0;
  for (std::size_t at = end; at < log.size(); at += frame_size) {
    const std::string_view frame = log.substr(at, frame_size);
    const std::string_view salts = frame.size() < 8 ? std::string_view() : frame.substr(8, kSalts);
    if (!log.substr(16, kSalts).starts_with(salts)) break;  // of an older generation
    tail.bytes += frame.size();
    if (frame.size() <= kFrameHeader) continue;
    for (KnobKey& key : keys_in_page(frame.substr(kFrameHeader))) tail.knobs.push_back(std::move(key));
  }
  return tail.bytes > 0 ? std::optional(std::move(tail)) : std::nullopt;
}

std::uint64_t missing_bytes(std::string_view header, std::uint64_t file_size) {
  if (header.size() < 32 || !header.starts_with("SQLite format 3")) return 0;
  const std::uint64_t page_size = big_endian(header, 16, 2), pages = big_endian(header, 28, 4);
  const std::uint64_t whole = pages * (page_size == 1 ? 65536 : page_size);
  return whole > file_size ? whole - file_size : 0;
}

std::string titles_of(const std::vector<KnobKey>& keys) {
  std::vector<std::string> titles;
  for (const KnobKey& key : keys) {
    if (titles.size() == kMostNamed) break;
    titles.push_back(key.resource + (key.item.empty() ? "" : " " + key.item) +
                     (key.cgroup_dir.empty() ? " of the node" : " of '" + key.cgroup_dir + "'"));
  }
  const std::size_t more = keys.size() - titles.size();
  return join(titles, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace koord::knob
