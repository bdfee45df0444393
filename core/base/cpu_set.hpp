// SPDX-License-Identifier: Apache-2.0
// CpuSet: a set of CPU or memory node numbers, in the kernel's list form "0-3,8". A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord {

class CpuSet {
 public:
  // No kernel has more; a larger number in a file is damage.
  static constexpr unsigned kMaxCpus = 65536;

  CpuSet() = default;

  // Empty text is the empty set. Overlapping and unordered ranges are fine, "3-1" is not.
  static Result<CpuSet> parse(std::string_view list);

  void insert(unsigned cpu);
  bool contains(unsigned cpu) const;
  bool empty() const { return size() == 0; }
  std::size_t size() const;

  // The members, ascending.
  std::vector<unsigned> members() const;
  // The shortest list form: "0-3,8".
  std::string list() const;

  bool includes(const CpuSet& other) const;
  CpuSet operator|(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet operator-(const CpuSet& other) const;
  bool operator==(const CpuSet&) const = default;

 private:
  void trim();  // no zero word at the end, so that equal sets compare equal

  std::vector<std::uint64_t> words_;
};

}  // namespace koord
