// SPDX-License-Identifier: Apache-2.0
#include "core/predict/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/parse.hpp"

namespace koord::predict {
namespace {

constexpr std::string_view kModel = "model", kScore = "score";
constexpr std::size_t kMaxSubjectBytes = 256;
constexpr std::size_t kMaxHours = 32;
constexpr std::size_t kMaxProblems = 10;
constexpr std::int64_t kLargest = std::int64_t{1} << 61;  // so that differences and sums do not overflow

// CRC-32 as in Ethernet and zip.
constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xEDB88320u : 0u);
  }
  return table;
}();

// In eight hexadecimal digits.
std::string checksum(std::string_view text) {
  std::uint32_t crc = ~0u;
  for (char c : text) crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", ~crc);
  return digits;
}

bool can_be_a_field(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSubjectBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' '; });
}

class Record {
 public:
  Record& operator<<(std::string_view text) {
    if (!text_.empty()) text_ += ' ';
    text_ += text;
    return *this;
  }
  Record& operator<<(std::int64_t number) { return add(number); }
  Record& operator<<(double number) { return add(number); }
  Record& operator<<(std::uint64_t number) { return add(number); }
  Record& operator<<(Time time) { return add(time.time_since_epoch().count()); }

  std::string line() const { return sealed_record(text_); }

 private:
  template <class Number>
  Record& add(Number number) {
    char text[32];
    return *this << std::string_view(text, std::to_chars(text, text + sizeof text, number).ptr);
  }
  std::string text_;
};

void write_histogram(Record& record, const analysis::Histogram::State& state) {
  record << state.reference << state.half_life.count() << state.total << std::uint64_t{state.lowest}
         << std::uint64_t{state.weights.size()};
  for (double weight : state.weights) record << weight;
}

// The fields of a record from left to right.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  Result<std::string_view> text() {
    if (auto field = next_field(rest_, ' ')) return *field;
    return invalid("it ends too early");
  }
  Result<std::uint64_t> count(std::uint64_t largest) {
    const std::string_view field = TRY(text());
    const std::uint64_t number = TRY(parse_uint(field));
    if (number > largest) return invalid("a number is larger than it can be");
    return number;
  }
  Result<double> amount() {
    const std::string_view field = TRY(text());
    const double number = TRY(parse_double(field));
    if (!(number >= 0 && std::isfinite(number))) return invalid("an amount is negative or not a number");
    return number;
  }
  Result<std::int64_t> whole() { return static_cast<std::int64_t>(TRY(count(kLargest))); }
  Result<Time> time() { return Time(Duration(TRY(whole()))); }
  bool at_end() const { return trim(rest_).empty(); }

 private:
  std::string_view rest_;
};

Result<analysis::Histogram> read_histogram(Fields& fields, const analysis::Buckets& buckets, Duration half_life,
                                           Time last) {
  analysis::Histogram::State state;
  state.reference = TRY(fields.time());
  state.half_life = Duration(TRY(fields.whole()));
  state.total = TRY(fields.amount());
  state.lowest = TRY(fields.count(analysis::bucket_count(buckets)));
  state.weights.resize(TRY(fields.count(analysis::bucket_count(buckets))));
  for (double& weight : state.weights) weight = TRY(fields.amount());
  return analysis::Histogram::restore(buckets, half_life, std::move(state), last);
}

Result<void> read_model(Fields& fields, Checkpoint& found, const HalfLives& half_lives) {
  const std::string_view name = TRY(fields.text());
  Subject subject = TRY(parse_subject(name));
  Model model(half_lives);
  model.first = TRY(fields.time());
  model.last = TRY(fields.time());
  model.samples = TRY(fields.count(kLargest));
  model.actual.cpu_cores = TRY(fields.amount());
  model.actual.memory_bytes = TRY(fields.amount());
  model.cpu = TRY(read_histogram(fields, kCpuBuckets, half_lives.cpu, model.last));
  model.memory = TRY(read_histogram(fields, kMemoryBuckets, half_lives.memory, model.last));
  if (model.first > model.last || !fields.at_end()) return invalid("its fields do not fit together");
  found.models.insert_or_assign(std::move(subject), std::move(model));
  return {};
}

Result<void> read_score(Fields& fields, Checkpoint& found) {
  std::string name(TRY(fields.text()));
  std::vector<Score::Hour> hours(TRY(fields.count(kMaxHours)));
  for (Score::Hour& hour : hours) {
    hour.begin = TRY(fields.time());
    hour.predicted.cpu_milli = TRY(fields.whole());
    hour.predicted.memory_bytes = TRY(fields.whole());
    hour.peak.cpu_cores = TRY(fields.amount());
    hour.peak.memory_bytes = TRY(fields.amount());
    hour.samples = TRY(fields.count(kLargest));
    hour.cpu_above = TRY(fields.count(hour.samples));
    hour.memory_above = TRY(fields.count(hour.samples));
  }
  if (!fields.at_end()) return invalid("its fields do not fit together");
  found.scores.insert_or_assign(std::move(name), std::move(hours));
  return {};
}

Result<void> read_record(std::string_view line, Checkpoint& found, const HalfLives& half_lives) {
  Fields head(line);
  const std::string_view version = TRY(head.text()), crc = TRY(head.text());
  if (version != std::to_string(kCheckpointVersion))
    return invalid("it is not of version " + std::to_string(kCheckpointVersion));
  const std::string_view record = line.substr(std::min(version.size() + crc.size() + 2, line.size()));
  if (crc != checksum(record)) return invalid("its checksum is wrong");
  Fields fields(record);
  const std::string_view kind = TRY(fields.text());
  const Time saved = TRY(fields.time());
  if (kind == kModel) {
    if (auto read = read_model(fields, found, half_lives); !read) return read;
  } else if (kind == kScore) {
    if (auto read = read_score(fields, found); !read) return read;
  } else {
    return invalid("it is neither a model nor a score");
  }
  found.saved = std::max(found.saved, saved);
  return {};
}

}  // namespace

std::string sealed_record(std::string_view fields) {
  return std::to_string(kCheckpointVersion) + " " + checksum(fields) + " " + std::string(fields) + "\n";
}

std::string write_checkpoint(const Checkpoint& checkpoint) {
  std::string out;
  for (const auto& [subject, model] : checkpoint.models) {
    const std::string name = to_string(subject);
    if (!can_be_a_field(name)) continue;  // no uid that Kubernetes gives
    Record record;
    record << kModel << checkpoint.saved << name << model.first << model.last << model.samples << model.actual.cpu_cores
           << model.actual.memory_bytes;
    write_histogram(record, model.cpu.state());
    write_histogram(record, model.memory.state());
    out += record.line();
  }
  for (const auto& [name, hours] : checkpoint.scores) {
    Record record;
    record << kScore << checkpoint.saved << name << std::uint64_t{hours.size()};
    for (const Score::Hour& hour : hours)
      record << hour.begin << hour.predicted.cpu_milli << hour.predicted.memory_bytes << hour.peak.cpu_cores
             << hour.peak.memory_bytes << hour.samples << hour.cpu_above << hour.memory_above;
    out += record.line();
  }
  return out;
}

ReadCheckpoint read_checkpoint(std::string_view text, const HalfLives& half_lives) {
  ReadCheckpoint read;
  std::size_t number = 0, more = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    auto taken = read_record(line, read.checkpoint, half_lives);
    if (taken) continue;
    if (read.problems.size() < kMaxProblems)
      read.problems.push_back("line " + std::to_string(number) + ": " + taken.error().message());
    else
      ++more;
  }
  if (more > 0) read.problems.push_back("and " + std::to_string(more) + " more lines");
  return read;
}

}  // namespace koord::predict
