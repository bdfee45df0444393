// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/latency_record.hpp"

#include <utility>

#include "core/analysis/saved_records.hpp"

namespace koord::analysis {
namespace {

constexpr std::string_view kBlkio = "blkio";
constexpr double kLongest = 1000;

void write_median(RecordWriter& record, const SavedMedian& median) {
  record << float(median.value) << float(median.weight) << std::uint64_t{median.windows};
}

std::string latency_line(const SavedLatency& saved) {
  RecordWriter record;
  record << kBlkio << saved.workload << saved.seen << std::uint64_t{saved.device} << saved.device_name
         << std::uint64_t{saved.is_write};
  write_median(record, saved.mean);
  write_median(record, saved.p99);
  return record.line(kLatencyVersion);
}

Result<SavedMedian> read_median(FieldReader& fields) {
  SavedMedian median;
  median.value = TRY(amount_up_to(fields, kLongest, "a latency"));
  median.weight = TRY(amount_up_to(fields, kMostWeight, "a weight"));
  median.windows = TRY(fields.count(kMostWindows));
  return median;
}

Result<SavedLatency> read_latency(std::string_view line) {
  FieldReader fields(TRY(open_record(kLatencyVersion, line)));
  if (TRY(fields.text()) != kBlkio) return invalid("it is no latency of block I/O");
  SavedLatency saved;
  saved.workload = TRY(fields.text());
  saved.seen = TRY(fields.time());
  saved.device = static_cast<std::uint32_t>(TRY(fields.count(UINT32_MAX)));
  saved.device_name = TRY(fields.text());
  saved.is_write = TRY(fields.count(1)) == 1;
  saved.mean = TRY(read_median(fields));
  saved.p99 = TRY(read_median(fields));
  if (!fields.at_end()) return invalid("its fields do not fit together");
  return saved;
}

}  // namespace

std::string write_latencies(std::vector<SavedLatency> all, std::size_t max_bytes) {
  std::erase_if(all, [](const SavedLatency& one) { return !can_be_a_field(one.device_name); });
  return write_newest(std::move(all), max_bytes, latency_line);
}

ReadLatencies read_latencies(std::string_view text) {
  ReadLatencies read;
  read.problems = read_each(text, read.latencies, read.unread, read_latency);
  return read;
}

}  // namespace koord::analysis
