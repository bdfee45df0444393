// SPDX-License-Identifier: Apache-2.0
// ProcessScores: the knob oom_score_adj, /proc/PID/oom_score_adj of each process of a container. [any thread]
//
// The value of a container is that of its oldest process, as the runtime started it; processes with another one are
// part of the text, so that a revert gives each process its own. A process that is forked later inherits the value; one
// that a runtime adds (kubectl exec) has the runtime's, until the next write.
#pragma once

#include <string>

#include "core/knob/knob_backend.hpp"
#include "core/knob/process_texts.hpp"

namespace koord::knob {

class ProcessScores final : public KnobBackend {
 public:
  // More processes with values of their own are not kept: a container can start any number.
  static constexpr std::size_t kMostOthers = 1024;

  // `layout` outlives it.
  ProcessScores(std::string proc_root, const cgroup::Layout& layout)
      : proc_root_(std::move(proc_root)), layout_(layout) {}

  Result<std::string> read(const KnobTarget& target) const override;
  Result<void> write(const KnobTarget& target, const std::string& text) const override;
  std::uint64_t inode(const KnobTarget& target) const override;
  Value restorable(const KnobTarget& target, Value original) const override;

 private:
  Result<std::size_t> write_each(const KnobTarget& target, const Scores& wanted) const;

  const std::string proc_root_;
  const cgroup::Layout& layout_;
};

}  // namespace koord::knob
