// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "core/base/parse.hpp"
#include "core/cgroup/extraction.hpp"

namespace koord::knob {
namespace {

using cgroup::Controller;
using cgroup::Version;

// What the kernel takes: sched_group_set_shares, cpu.weight, cpu.max.
constexpr std::int64_t kLeastShares = 2, kMostShares = 262144;
constexpr std::int64_t kMostWeight = 10000;
constexpr std::int64_t kLeastQuotaUs = 1000;
constexpr std::int64_t kLeastPeriodUs = 1000, kMostPeriodUs = 1'000'000, kPeriodUs = 100'000;
// v1 writes "no limit" of memory as the largest count of pages.
constexpr std::int64_t kHuge = 0x7FFFFFFFFFFFF000;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr Knob kKnobs[] = {
    {"cpu.max", "cpu.max", Controller::cpu, Form::bandwidth, "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"},
    {"cpu.max.burst", "cpu.max.burst", Controller::cpu, Form::number, "cpu.max.burst", "cpu.cfs_burst_us", ""},
    {"cpu.shares", "cpu.weight", Controller::cpu, Form::shares, "cpu.weight", "cpu.shares", "", kLeastShares, kMostShares},
    {"cpu.weight", "cpu.weight", Controller::cpu, Form::number, "cpu.weight", "", "", 1, kMostWeight},
    {"cpu.idle", "cpu.idle", Controller::cpu, Form::number, "cpu.idle", "cpu.idle", "", 0, 1, true},
    {"cpuset.cpus", "cpuset.cpus", Controller::cpuset, Form::set, "cpuset.cpus", "cpuset.cpus", ""},
    {"cpuset.mems", "cpuset.mems", Controller::cpuset, Form::set, "cpuset.mems", "cpuset.mems", ""},
    {"memory.min", "memory.min", Controller::memory, Form::amount, "memory.min", "", "", 0, kMost, true},
    {"memory.low", "memory.low", Controller::memory, Form::amount, "memory.low", "", "", 0, kMost, true},
    {"memory.high", "memory.high", Controller::memory, Form::amount, "memory.high", "", ""},
    {"memory.max", "memory.max", Controller::memory, Form::amount, "memory.max", "memory.limit_in_bytes", ""},
    {"memory.swap.max", "memory.swap.max", Controller::memory, Form::amount, "memory.swap.max", "", ""},
    {"memory.oom.group", "memory.oom.group", Controller::memory, Form::number, "memory.oom.group", "", "", 0, 1, true},
    {"pids.max", "pids.max", Controller::pids, Form::amount, "pids.max", "pids.max", ""},
};

std::int64_t weight_of_shares(std::int64_t shares) {
  return 1 + (std::clamp(shares, kLeastShares, kMostShares) - kLeastShares) * (kMostWeight - 1) / (kMostShares - kLeastShares);
}

std::int64_t shares_of_weight(std::int64_t weight) {
  return cgroup::convert(weight, cgroup::Conversion::weight_to_shares);
}

std::int64_t page_size() {
  static const std::int64_t size = ::sysconf(_SC_PAGESIZE);
  return size;
}

Error wanted(const Knob& knob, std::string_view text, const std::string& expected) {
  return invalid("the value of " + std::string(knob.name) + " is '" + std::string(text) + "', expected " + expected);
}

std::string range_of(const Knob& knob) {
  std::string range = "a number from " + std::to_string(knob.least);
  if (knob.most != kMost) range += " to " + std::to_string(knob.most);
  return range + (knob.form == Form::amount ? " or \"max\"" : "");
}

// "max" is no limit, as everywhere in cgroup v2.
std::int64_t limit_of(std::string_view text) {
  if (text == "max") return kUnlimited;
  return parse_int(text).value_or(-1);
}

Result<Value> parse_bandwidth(const Knob& knob, std::string_view text) {
  std::string_view rest = text;
  std::string_view quota = next_word(rest).value_or("");
  std::optional<std::string_view> period = next_word(rest);
  Value value{limit_of(quota), period ? parse_int(*period).value_or(-1) : kPeriodUs};
  bool unlimited = value.amount == kUnlimited;
  bool fine = (unlimited || (period && value.amount >= kLeastQuotaUs)) && value.period_us >= kLeastPeriodUs &&
              value.period_us <= kMostPeriodUs && trim(rest).empty();
  if (fine) return value;
  return wanted(knob, text, "\"QUOTA PERIOD\" in microseconds, at least 1000 each and the period at most 1000000, or \"max\"");
}

Result<Value> parse_set(const Knob& knob, std::string_view text) {
  Result<CpuSet> set = CpuSet::parse(text);
  if (!set || set->empty()) return wanted(knob, text, "a list such as \"0-3,8\" that is not empty");
  return Value{.set = *std::move(set)};
}

// Larger is wider, but for sets, where it is only the size.
long double width(const Setting& setting) {
  const auto amount = static_cast<long double>(setting.value.amount);
  switch (setting.knob.form) {
    case Form::bandwidth:
      return setting.value.amount == kUnlimited ? amount : amount / static_cast<long double>(setting.value.period_us);
    case Form::set:
      return static_cast<long double>(setting.value.set.size());
    case Form::number:
      if (setting.knob.name == "cpu.weight") return static_cast<long double>(shares_of_weight(setting.value.amount));
      return amount;
    default:
      return amount;
  }
}

Result<std::int64_t> read_number(const Knob& knob, std::string_view text) {
  std::int64_t number = cgroup::parse_value(text);
  if (number == cgroup::kAbsent) return invalid("the kernel says '" + std::string(text) + "' of " + std::string(knob.name));
  return number < 0 || number >= kHuge ? kUnlimited : number;
}

}  // namespace

const Knob* find_knob(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKnobs), std::end(kKnobs), [&](const Knob& k) { return k.name == name; });
  return found == std::end(kKnobs) ? nullptr : found;
}

Result<const Knob*> knob_named(std::string_view name) {
  if (const Knob* knob = find_knob(name)) return knob;
  std::vector<std::string> names;
  for (const Knob& known : kKnobs) names.emplace_back(known.name);
  const std::string near = nearest(name, names);
  return invalid("'" + std::string(name) + "' is not a knob" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

Result<Value> parse_value(const Knob& knob, std::string_view text) {
  if (knob.form == Form::bandwidth) return parse_bandwidth(knob, text);
  if (knob.form == Form::set) return parse_set(knob, text);
  if (knob.form == Form::amount && text == "max") return Value{kUnlimited};
  Result<std::int64_t> number = parse_int(text);
  if (!number || *number < knob.least || *number > knob.most) return wanted(knob, text, range_of(knob));
  return Value{*number};
}

std::string spell(const Knob& knob, const Value& value) {
  if (knob.form == Form::set) return value.set.list();
  std::string amount = value.amount == kUnlimited ? "max" : std::to_string(value.amount);
  return knob.form == Form::bandwidth ? amount + " " + std::to_string(value.period_us) : amount;
}

bool same(const Knob& knob, const Value& a, const Value& b) {
  if (knob.form == Form::set) return a.set == b.set;
  if (knob.form != Form::bandwidth || a.amount == kUnlimited) return a.amount == b.amount;
  return a.amount == b.amount && a.period_us == b.period_us;
}

bool is_stricter(const Setting& a, const Setting& b) {
  return a.knob.large_is_strict ? width(a) > width(b) : width(a) < width(b);
}

Value widest(const Knob& knob, const Value& a, const Value& b) {
  if (knob.form == Form::set) return {.set = a.set | b.set};
  return width({knob, a}) > width({knob, b}) ? a : b;
}

std::vector<std::string_view> files_of(const Knob& knob, Version version) {
  std::vector<std::string_view> files;
  if (version == Version::v2) {
    if (!knob.v2_file.empty()) files.push_back(knob.v2_file);
    return files;
  }
  for (std::string_view file : {knob.v1_file, knob.v1_period_file})
    if (!file.empty()) files.push_back(file);
  return files;
}

Texts encode(const Knob& knob, const Value& value, Version version) {
  if (version == Version::v2) {
    if (knob.form == Form::shares) return {std::to_string(weight_of_shares(value.amount))};
  } else {
    bool unlimited = value.amount == kUnlimited;
    if (knob.form == Form::bandwidth) return {unlimited ? "-1" : std::to_string(value.amount), std::to_string(value.period_us)};
    if (knob.controller == Controller::memory && unlimited) return {"-1"};
  }
  // The kernel rounds down to whole pages; what it will say is what is asked for.
  if (knob.controller == Controller::memory && knob.form == Form::amount && value.amount != kUnlimited)
    return {std::to_string(value.amount / page_size() * page_size())};
  return {spell(knob, value)};
}

Result<Value> decode(const Knob& knob, const Texts& texts, Version version) {
  if (texts.size() != files_of(knob, version).size() || texts.empty())
    return invalid(std::string(knob.name) + " was not read whole");
  if (knob.form == Form::set) return Value{.set = TRY(CpuSet::parse(texts[0]))};
  if (knob.form == Form::bandwidth) {
    std::string_view rest = texts[0];
    std::string_view quota = next_word(rest).value_or("");
    std::string_view period = version == Version::v2 ? next_word(rest).value_or("") : std::string_view(texts[1]);
    std::int64_t amount = TRY(read_number(knob, quota));
    return Value{amount, TRY(read_number(knob, period))};
  }
  std::int64_t number = TRY(read_number(knob, texts[0]));
  bool is_weight = knob.form == Form::shares && version == Version::v2;
  return Value{is_weight ? shares_of_weight(number) : number};
}

}  // namespace koord::knob
