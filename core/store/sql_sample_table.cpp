// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "core/store/sample_scan.hpp"
#include "core/store/sql_label_columns.hpp"
#include "core/store/sql_tables.hpp"
#include "core/store/sql_virtual_table.hpp"

namespace koord::store {
namespace {

enum SampleColumn {
  kSampleTime,
  kSampleMetric,
  kSampleFirstLabel,
  kSampleValue = kSampleFirstLabel + static_cast<int>(kLabelColumns.size()) + 1
};

// Returns the letter of a condition that is passed to filter(), in the order of its arguments; 0: not passed. SQLite
// checks all conditions again, so the bounds may be wider than the conditions, but never narrower.
char letter(const sqlite3_index_info::sqlite3_index_constraint& condition) {
  if (!condition.usable) return 0;
  bool equal = condition.op == SQLITE_INDEX_CONSTRAINT_EQ;
  if (condition.iColumn == kSampleMetric) return equal ? 'm' : '\0';
  if (condition.iColumn != kSampleTime) return 0;
  switch (condition.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return '<';
    default:
      return 0;
  }
}

// Converts seconds to milliseconds, with a margin.
std::int64_t bound_ms(sqlite3_value* seconds, double margin) {
  double ms = sqlite3_value_double(seconds) * 1000 + margin;
  return static_cast<std::int64_t>(std::clamp(ms, 0.0, 9e18));
}

void narrow(ScanBounds& bounds, char letter, sqlite3_value* value) {
  if (letter == 'm') {
    auto text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    bounds.metric = text ? text : "";
    return;
  }
  int type = sqlite3_value_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  if (letter != '<') bounds.from_ms = std::max(bounds.from_ms, bound_ms(value, -2));
  if (letter != '>') bounds.to_ms = std::min(bounds.to_ms, bound_ms(value, 2));
}

struct Samples : VirtualCursor {
  static constexpr const char* kName = "samples";
  static std::string columns() {
    return std::string("time REAL, metric TEXT, ").append(kLabelColumnList).append(", value REAL");
  }
  static void best_index(sqlite3_index_info& info);

  int filter(const char* letters, int count, sqlite3_value** values);
  int next();
  void column(sqlite3_context* context, int at) const;
  int fail(const Error& error) const;

  std::optional<SampleScan> scan;
};

void Samples::best_index(sqlite3_index_info& info) {
  std::string letters;
  info.estimatedCost = 1e9;
  for (int i = 0; i < info.nConstraint; ++i) {
    char used = letter(info.aConstraint[i]);
    if (used == 0) continue;
    letters += used;
    info.aConstraintUsage[i].argvIndex = static_cast<int>(letters.size());
    info.estimatedCost /= 10;
  }
  info.idxStr = sqlite3_mprintf("%s", letters.c_str());
  info.needToFreeIdxStr = 1;
}

int Samples::fail(const Error& error) const {
  sqlite3_free(pVtab->zErrMsg);
  pVtab->zErrMsg = sqlite3_mprintf("samples: %s", error.text.c_str());
  return error.is(std::errc::timed_out) ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

int Samples::filter(const char* letters, int count, sqlite3_value** values) {
  ScanBounds bounds;
  for (int i = 0; i < count; ++i) narrow(bounds, letters[i], values[i]);
  scan.reset();
  Result<SampleScan> begun = SampleScan::begin(database(), std::move(bounds));
  if (!begun) return fail(begun.error());
  scan.emplace(std::move(*begun));
  return next();
}

int Samples::next() {
  Result<bool> more = scan->next();
  at_end = !more || !*more;
  return more ? SQLITE_OK : fail(more.error());
}

void Samples::column(sqlite3_context* context, int at) const {
  switch (at) {
    case kSampleTime:
      sqlite3_result_double(context, static_cast<double>(scan->time_ms()) / 1000);
      break;
    case kSampleMetric:
      give_text(context, scan->metric().name);
      break;
    case kSampleValue:
      sqlite3_result_double(context, scan->value());
      break;
    default:
      give_label(context, scan->labels(), static_cast<std::size_t>(at - kSampleFirstLabel));
  }
}

}  // namespace

Result<void> add_sample_table(sqlite::Connection& connection) { return add_virtual_table<Samples>(connection); }

}  // namespace koord::store
