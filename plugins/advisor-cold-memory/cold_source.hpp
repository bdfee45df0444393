// SPDX-License-Identifier: Apache-2.0
// ColdSource: a kernel feature that measures how long memory has not been touched. It must be switched on. stop()
// reverts the change, also if the process that made it has died: a note that outlives the process has the original
// values. On the instance's strand.
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

  // Switches it on. The note that stop() wants back, to be kept where the next process finds it; before start() it has
  // what that one needs to undo a start() that was cut off.
  virtual Result<void> start(std::uint64_t now_ns) = 0;
  virtual std::string note() const = 0;
  // Reverts the changes of start(); so does the destructor.
  virtual void stop() = 0;
  // Another process has taken over what is switched on, and will undo it.
  virtual void leave() = 0;

  // Returns the bytes of inactive page cache that have not been touched for the age; nothing: unknown, or not yet.
  virtual Result<std::optional<double>> node(std::uint64_t now_ns) = 0;

  // Returns whether it measures single cgroups, too.
  virtual bool knows_cgroups() const = 0;
  // Nothing: no such cgroup.
  virtual Result<std::optional<double>> cgroup(std::string_view dir) = 0;
};

// `before`: the note of a process that may have died, or empty. `token`: differs from that of any other process. An
// error names the missing feature of this kernel, or its other user.
Result<std::unique_ptr<ColdSource>> find_kidled(const NodeRoots& roots, std::chrono::seconds age,
                                                const std::string& before, const std::string& token);
Result<std::unique_ptr<ColdSource>> find_damon(const NodeRoots& roots, std::chrono::seconds age,
                                               const std::string& before);

}  // namespace koord::cold_memory
