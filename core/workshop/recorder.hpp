// SPDX-License-Identifier: Apache-2.0
// Recording: the files of a node that collectors read, frame by frame. recorder.cpp has a list for each tree. For each
// cgroup it takes the files behind koord.cgroup/1 and koord.knobs/1, and the ids of its processes; for each process of
// a pod or container its statistics (kProcessFiles), and for the first one of each the files of its network namespace.
// Command lines, environments and memory are never recorded. No file is written, and unreadable files are left out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/workshop/fixture.hpp"

namespace koord::workshop {

// Recorded parts beyond the lists for each tree.
struct RecordedParts {
  std::vector<std::string> cgroups = {};  // of pods and containers with processes to record
  bool all_cgroup_files = false;          // not only those that services of the host read
};

// The node now. At most kMaxFixtureBytes; more is an error.
Result<Tree> read_tree(const NodeRoots& roots, const RecordedParts& parts = {});

struct Recording {
  std::string node_name;
  std::size_t frames = 3;
  Duration interval = std::chrono::seconds(1);
  StateTexts state = {};
  bool all_cgroup_files = false;
};
// `wait` sleeps until the next frame is due.
Result<Fixture> record(const NodeRoots& roots, const Clock& clock, const Recording& recording,
                       const std::function<void(Duration)>& wait);

}  // namespace koord::workshop
