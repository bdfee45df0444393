// SPDX-License-Identifier: Apache-2.0
// ColdSource: a kernel feature that measures how long memory has not been accessed. It must be switched on. stop()
// reverts the change. If the process that made the change has died, the next process reverts it, because a note that
// outlives the process has the original values. On the instance's strand.
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

  // start() switches the feature on. note() returns the original values, which stop() restores; store the note where
  // the next process finds it. Store it before start(), too. At that time it has what the next process needs to revert
  // an interrupted start().
  virtual Result<void> start(std::uint64_t now_ns) = 0;
  virtual std::string note() const = 0;
  // Reverts the changes of start(). The destructor does the same.
  virtual void stop() = 0;
  // Call it when a different process has taken over the feature and will switch it off.
  virtual void leave() = 0;

  // Returns the bytes of inactive page cache that have not been accessed for the age. nullopt: unknown, or not yet
  // known.
  virtual Result<std::optional<double>> node(std::uint64_t now_ns) = 0;

  // Returns whether the source measures single cgroups, too.
  virtual bool knows_cgroups() const = 0;
  // Returns nullopt if the cgroup does not exist.
  virtual Result<std::optional<double>> cgroup(std::string_view dir) = 0;
};

// `before`: the note of a process that may have died, or empty. `token`: a text that no other process uses. An
// error names the missing feature of this kernel, or the other user of the feature.
Result<std::unique_ptr<ColdSource>> find_kidled(const NodeRoots& roots, std::chrono::seconds age,
                                                const std::string& before, const std::string& token);
Result<std::unique_ptr<ColdSource>> find_damon(const NodeRoots& roots, std::chrono::seconds age,
                                               const std::string& before);

}  // namespace koord::cold_memory
