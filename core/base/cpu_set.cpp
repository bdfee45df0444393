// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu_set.hpp"

#include <algorithm>
#include <bit>

#include "core/base/parse.hpp"

namespace koord {
namespace {

constexpr unsigned kWordBits = 64;

Result<unsigned> parse_cpu(std::string_view text) {
  std::uint64_t cpu = TRY(parse_uint(text));
  if (cpu >= CpuSet::kMaxCpus)
    return invalid("CPU number '" + std::string(text) + "' is out of range, expected one below " +
                   std::to_string(CpuSet::kMaxCpus));
  return static_cast<unsigned>(cpu);
}

struct Range {
  unsigned first, last;
};

Result<Range> parse_range(std::string_view text) {
  std::size_t dash = text.find('-');
  unsigned first = TRY(parse_cpu(text.substr(0, dash)));
  unsigned last = dash == std::string_view::npos ? first : TRY(parse_cpu(text.substr(dash + 1)));
  if (last < first) return invalid("range '" + std::string(text) + "' runs backwards");
  return Range{first, last};
}

}  // namespace

Result<CpuSet> CpuSet::parse(std::string_view list) {
  CpuSet set;
  std::string_view rest = koord::trim(list);
  if (rest.ends_with(',')) return invalid("CPU list '" + std::string(rest.substr(0, 64)) + "' ends in a comma");
  while (auto part = next_field(rest, ',')) {
    Result<Range> range = parse_range(*part);
    if (!range) return std::move(range).error().context("CPU list");
    for (unsigned cpu = range->first; cpu <= range->last; ++cpu) set.insert(cpu);
  }
  return set;
}

void CpuSet::insert(unsigned cpu) {
  if (words_.size() <= cpu / kWordBits) words_.resize(cpu / kWordBits + 1);
  words_[cpu / kWordBits] |= std::uint64_t{1} << (cpu % kWordBits);
}

bool CpuSet::contains(unsigned cpu) const {
  return cpu / kWordBits < words_.size() && (words_[cpu / kWordBits] >> (cpu % kWordBits) & 1);
}

std::size_t CpuSet::size() const {
  std::size_t count = 0;
  for (std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

std::vector<unsigned> CpuSet::members() const {
  std::vector<unsigned> cpus;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
      cpus.push_back(static_cast<unsigned>(i) * kWordBits + static_cast<unsigned>(std::countr_zero(word)));
  }
  return cpus;
}

std::string CpuSet::list() const {
  std::string text;
  std::vector<unsigned> cpus = members();
  for (std::size_t first = 0, last; first < cpus.size(); first = last + 1) {
    last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
  }
  return text;
}

bool CpuSet::includes(const CpuSet& other) const { return (other - *this).empty(); }

CpuSet CpuSet::operator|(const CpuSet& other) const {
  CpuSet both = *this;
  both.words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < other.words_.size(); ++i) both.words_[i] |= other.words_[i];
  return both;
}

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet common = *this;
  common.words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < common.words_.size(); ++i) common.words_[i] &= other.words_[i];
  common.trim();
  return common;
}

CpuSet CpuSet::operator-(const CpuSet& other) const {
  CpuSet left = *this;
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) left.words_[i] &= ~other.words_[i];
  left.trim();
  return left;
}

void CpuSet::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace koord
