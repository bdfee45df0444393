// SPDX-License-Identifier: Apache-2.0
// KnobBackend: a place that keeps values of knobs and is no directory of files: groups of resctrl, the scores and core
// groups of processes, classes of an interface. KnobFiles asks the backend of a knob's place; everything above
// KnobFiles (journal, read-back, revert, detection of other writers) works on its texts as on those of files. [any
// thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// The place of one knob; in a file with items, of one item.
struct KnobTarget {
  const Knob& knob;
  std::string_view cgroup_dir;  // or the name of a resctrl group
  std::string_view item = {};   // that of the value
};

class KnobBackend {
 public:
  virtual ~KnobBackend() = default;

  // The text in the form that decode() takes. std::errc::no_such_device: the cgroup or group has ended, or has no
  // process. std::errc::not_supported: this kernel lacks the knob; the text says why.
  virtual Result<std::string> read(const KnobTarget& target) const = 0;
  virtual Result<void> write(const KnobTarget& target, const std::string& text) const = 0;
  // Another number is another cgroup or group of the same name; 0: it has ended.
  virtual std::uint64_t inode(const KnobTarget& target) const = 0;

  // The value that the kernel will show.
  virtual Value settled(const Knob&, Value value) const { return value; }
  // The part of an original that can still be restored: without processes that have ended.
  virtual Value restorable(const KnobTarget&, Value original) const { return original; }
  // Takes over what an earlier session wrote, or was about to write.
  virtual void adopt(const KnobTarget&, const std::vector<std::string>&) const {}
  // A round of reads and writes begins, or a read-back.
  virtual void begin_round() const {}
};

}  // namespace koord::knob
