// SPDX-License-Identifier: Apache-2.0
// Recording: the files of a node that collectors read, frame by frame. Which files those are stands in recorder.cpp, one
// list for each tree; of cgroups it is all that can be read. No file is written, and what cannot be read is left out.
#pragma once

#include <functional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/workshop/fixture.hpp"

namespace koord::workshop {

// The node now. At most kMaxFixtureBytes; more is an error.
Result<Tree> read_tree(const NodeRoots& roots);

struct Recording {
  std::string node_name;
  std::size_t frames = 3;
  Duration interval = std::chrono::seconds(1);
  StateTexts state = {};
};
// `wait` sleeps until the next frame is due.
Result<Fixture> record(const NodeRoots& roots, const Clock& clock, const Recording& recording,
                       const std::function<void(Duration)>& wait);

}  // namespace koord::workshop
