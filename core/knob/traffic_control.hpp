// SPDX-License-Identifier: Apache-2.0
// TrafficControl: the knob tc.classes, HTB classes of an interface's outgoing traffic by rtnetlink. [any thread]
//
// The text of an interface is all its classes, and a write makes the interface so: queueing discipline, filter by
// net_cls.classid, classes. Without classes the interface has the kernel's own queueing discipline. That of another
// program is not replaced, and not read.
#pragma once

#include <string>
#include <string_view>

#include "core/knob/knob_backend.hpp"

namespace koord::knob {

class TrafficControl final : public KnobBackend {
 public:
  enum class Filter {
    by_cgroup,
    none,  // for kernels without the filter, in tests
  };

  explicit TrafficControl(std::string proc_root, Filter filter = Filter::by_cgroup)
      : proc_root_(std::move(proc_root)), filter_(filter) {}

  Result<std::string> read(const KnobTarget& target) const override;
  Result<void> write(const KnobTarget& target, const std::string& text) const override;
  // The number of the interface.
  std::uint64_t inode(const KnobTarget& target) const override;

 private:
  Result<void> check_namespace() const;

  const std::string proc_root_;
  const Filter filter_;
};

}  // namespace koord::knob
