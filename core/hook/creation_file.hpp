// SPDX-License-Identifier: Apache-2.0
// CreationRecord: the changes of hooks in one container at its creation, and its file, in JSON. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::hook {

// The value that the runtime would have set for a knob that a hook has changed. A set of CPUs that it was not asked for
// is empty. Behind the value of cpu.idle stand the shares: "0 512".
struct Unadjusted {
  std::string knob, value, plugin;

  bool operator==(const Unadjusted&) const = default;
};

struct CreationRecord {
  std::string pod_uid, container;      // its name
  std::string id;                      // of the container; empty: the runtime's request has none (CRI)
  std::string before_id;               // of the container that had the name until then; empty: none
  std::string cgroup_dir;              // empty: not known yet
  std::vector<Unadjusted> unadjusted;  // until they are in the journal of original values
  std::vector<std::string> fields;     // that have an effect only at a creation, as creation_fields() has them

  bool operator==(const CreationRecord&) const = default;
};

// Larger files are damaged.
inline constexpr std::size_t kMostRecordBytes = 64 << 10;

// Empty: the pod or container has no name that a file may have, and is kept in memory only.
std::string file_name_of(const CreationRecord& record);
std::string text_of(const CreationRecord& record);
// The error says what is damaged.
Result<CreationRecord> read_creation_record(std::string_view text);

}  // namespace koord::hook
