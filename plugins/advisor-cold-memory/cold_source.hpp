// SPDX-License-Identifier: Apache-2.0
// ColdSource: what in the kernel tells how long memory has not been touched. It must be switched on, and what that changed
// is undone by stop(), also when the process that did it has died: what there was before stands in a note that outlives it.
// On the instance's strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::cold_memory {

class ColdSource {
 public:
  virtual ~ColdSource() = default;

  virtual const char* name() const = 0;

  // Switches it on. The note that stop() wants back, to be kept where the next process finds it; before start() it has what
  // that one needs to undo a start() that was cut off.
  virtual Result<void> start(std::uint64_t now_ns) = 0;
  virtual std::string note() const = 0;
  // Undoes what start() changed; so does the end of the object's life.
  virtual void stop() = 0;
  // Another process has taken over what is switched on, and will undo it.
  virtual void leave() = 0;

  // Bytes of inactive page cache that nobody has touched for the age; nothing: not known, or not yet.
  virtual Result<std::optional<double>> node(std::uint64_t now_ns) = 0;

  // Can it tell of single cgroups, too?
  virtual bool knows_cgroups() const = 0;
  // Nothing: no such cgroup.
  virtual Result<std::optional<double>> cgroup(std::string_view dir) = 0;
};

// `before`: the note of a process that may have died, or empty. `token`: differs from that of any other process. An error says
// what this kernel lacks, or who else uses it.
Result<std::unique_ptr<ColdSource>> find_kidled(const NodeRoots& roots, std::chrono::seconds age, const std::string& before,
                                                const std::string& token);
Result<std::unique_ptr<ColdSource>> find_damon(const NodeRoots& roots, std::chrono::seconds age, const std::string& before);

}  // namespace koord::cold_memory
