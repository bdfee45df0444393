// SPDX-License-Identifier: Apache-2.0
#include "core/predict/checkpoint.hpp"

#include <algorithm>

#include "core/base/record.hpp"

namespace koord::predict {
namespace {

constexpr std::string_view kModel = "model", kScore = "score";
constexpr std::size_t kMaxHours = 32;

void write_histogram(RecordWriter& record, const analysis::Histogram::State& state) {
  record << state.reference << state.half_life.count() << state.total << std::uint64_t{state.lowest}
         << std::uint64_t{state.weights.size()};
  for (double weight : state.weights) record << weight;
}

Result<analysis::Histogram> read_histogram(FieldReader& fields, const analysis::Buckets& buckets, Duration half_life,
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

Result<void> read_model(FieldReader& fields, Checkpoint& found, const HalfLives& half_lives) {
  const std::string_view name = TRY(fields.text());
  Subject subject = TRY(parse_subject(name));
  Model model(half_lives);
  model.first = TRY(fields.time());
  model.last = TRY(fields.time());
  model.samples = TRY(fields.count(kLargestWhole));
  model.actual.cpu_cores = TRY(fields.amount());
  model.actual.memory_bytes = TRY(fields.amount());
  model.cpu = TRY(read_histogram(fields, kCpuBuckets, half_lives.cpu, model.last));
  model.memory = TRY(read_histogram(fields, kMemoryBuckets, half_lives.memory, model.last));
  if (model.first > model.last || !fields.at_end()) return invalid("its fields do not fit together");
  found.models.insert_or_assign(std::move(subject), std::move(model));
  return {};
}

Result<void> read_score(FieldReader& fields, Checkpoint& found) {
  std::string name(TRY(fields.text()));
  std::vector<Score::Hour> hours(TRY(fields.count(kMaxHours)));
  for (Score::Hour& hour : hours) {
    hour.begin = TRY(fields.time());
    hour.predicted.cpu_milli = TRY(fields.whole());
    hour.predicted.memory_bytes = TRY(fields.whole());
    hour.peak.cpu_cores = TRY(fields.amount());
    hour.peak.memory_bytes = TRY(fields.amount());
    hour.samples = TRY(fields.count(kLargestWhole));
    hour.cpu_above = TRY(fields.count(hour.samples));
    hour.memory_above = TRY(fields.count(hour.samples));
  }
  if (!fields.at_end()) return invalid("its fields do not fit together");
  found.scores.insert_or_assign(std::move(name), std::move(hours));
  return {};
}

Result<void> read_record(std::string_view line, Checkpoint& found, const HalfLives& half_lives) {
  FieldReader fields(TRY(open_record(kCheckpointVersion, line)));
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

std::string sealed_record(std::string_view fields) { return koord::sealed_record(kCheckpointVersion, fields); }

std::string write_checkpoint(const Checkpoint& checkpoint) {
  std::string out;
  for (const auto& [subject, model] : checkpoint.models) {
    const std::string name = to_string(subject);
    if (!can_be_a_field(name)) continue;  // Kubernetes gives no uid that cannot be a field
    RecordWriter record;
    record << kModel << checkpoint.saved << name << model.first << model.last << model.samples << model.actual.cpu_cores
           << model.actual.memory_bytes;
    write_histogram(record, model.cpu.state());
    write_histogram(record, model.memory.state());
    out += record.line(kCheckpointVersion);
  }
  for (const auto& [name, hours] : checkpoint.scores) {
    RecordWriter record;
    record << kScore << checkpoint.saved << name << std::uint64_t{hours.size()};
    for (const Score::Hour& hour : hours)
      record << hour.begin << hour.predicted.cpu_milli << hour.predicted.memory_bytes << hour.peak.cpu_cores
             << hour.peak.memory_bytes << hour.samples << hour.cpu_above << hour.memory_above;
    out += record.line(kCheckpointVersion);
  }
  return out;
}

ReadCheckpoint read_checkpoint(std::string_view text, const HalfLives& half_lives) {
  ReadCheckpoint read;
  read.problems =
      read_records(text, [&](std::string_view line) { return read_record(line, read.checkpoint, half_lives); });
  return read;
}

}  // namespace koord::predict
