// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cache_record.hpp"

#include <utility>

#include "core/analysis/saved_records.hpp"

namespace koord::analysis {
namespace {

constexpr std::string_view kCpi = "cpi";
constexpr double kLargestCpi = 1e6;

std::string cpi_line(const SavedCpi& saved) {
  RecordWriter record;
  record << kCpi << saved.workload << saved.seen << std::uint64_t{saved.windows} << std::int64_t{saved.known.count()};
  record << saved.weight << saved.mean << saved.deviation;
  return record.line(kCpiVersion);
}

Result<SavedCpi> read_workload(std::string_view line) {
  FieldReader fields(TRY(open_record(kCpiVersion, line)));
  if (TRY(fields.text()) != kCpi) return invalid("it is no record of cycles per instruction");
  SavedCpi saved;
  saved.workload = TRY(fields.text());
  saved.seen = TRY(fields.time());
  saved.windows = TRY(fields.count(kMostWindows));
  saved.known = Duration(TRY(fields.whole()));
  saved.weight = TRY(amount_up_to(fields, kMostWeight, "the weight"));
  saved.mean = TRY(amount_up_to(fields, kLargestCpi, "the mean"));
  saved.deviation = TRY(amount_up_to(fields, kLargestCpi, "the deviation"));
  if (!can_be_a_field(saved.workload) || !fields.at_end()) return invalid("its fields do not fit together");
  if (saved.mean <= 0 || saved.weight <= 0) return invalid("it has no windows");
  return saved;
}

}  // namespace

std::string write_cpi(std::vector<SavedCpi> all, std::size_t max_bytes) {
  return write_newest(std::move(all), max_bytes, cpi_line);
}

ReadCpi read_cpi(std::string_view text) {
  ReadCpi read;
  read.problems = read_each(text, read.workloads, read.unread, read_workload);
  return read;
}

}  // namespace koord::analysis
