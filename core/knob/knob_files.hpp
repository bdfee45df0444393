// SPDX-License-Identifier: Apache-2.0
// KnobFiles: knobs in the cgroup tree of this node, on whichever version keeps their controller. A cgroup that is gone
// answers std::errc::no_such_device, a knob that this kernel lacks std::errc::not_supported. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

class KnobFiles {
 public:
  explicit KnobFiles(cgroup::Layout layout) : layout_(std::move(layout)) {}

  // What the kernel has now, as it says it and as a value.
  struct Reading {
    Texts texts;
    Value value;
    std::uint64_t cgroup = 0;  // inode: another one is another cgroup of the same name
  };
  Result<Reading> read(const Knob& knob, std::string_view cgroup_dir) const;

  // Only the files whose text differs from that in `now`.
  Result<void> write(const Knob& knob, std::string_view cgroup_dir, const Texts& texts, const Texts& now) const;

  // As the kernel will say it: rounded, converted.
  Result<Value> settled(const Knob& knob, const Value& value) const;
  Result<Texts> texts_of(const Knob& knob, const Value& value) const;

 private:
  Result<cgroup::Version> version_of(const Knob& knob) const;

  const cgroup::Layout layout_;
};

// The present value of a knob as text in the form in which it would be proposed. The knob may be unknown.
Result<std::string> read_knob(const KnobFiles& files, std::string_view knob, std::string_view cgroup_dir);

}  // namespace koord::knob
