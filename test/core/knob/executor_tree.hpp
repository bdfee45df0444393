// SPDX-License-Identifier: Apache-2.0
// ExecutorTree: an executor on a fake cgroup v2 tree, with a clock that the test advances.
#pragma once

#include <string>
#include <string_view>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/executor.hpp"
#include "test/support/fake_node.hpp"

namespace koord::test {

struct ExecutorTree {
  FakeNode node{{"cgroup/cgroup.controllers", "cpu memory cpuset\n"},
                {"cgroup/pod/cpu.max", "50000 100000\n"},
                {"cgroup/pod/app/cpu.max", "20000 100000\n"},
                {"cgroup/pod/cpuset.cpus", "\n"},
                {"cgroup/pod/memory.high", "max\n"},
                {"cgroup/pod/cpu.weight", "100\n"}};
  knob::KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};
  knob::MemoryOriginals originals;
  ManualClock clock;
  knob::Executor executor{files, originals, clock};

  std::string read(const std::string& path) const { return std::string(trim(*read_file(node.path("cgroup/" + path)))); }
  void write(const std::string& path, const std::string& text) { node.write("cgroup/" + path, text + "\n"); }

  static knob::Order order(const std::string& dir, std::string_view knob_name, std::string_view value,
                           decision::Level level = decision::Level::pod) {
    return {level, dir, knob::find_knob(knob_name), *knob::parse_value(*knob::find_knob(knob_name), value)};
  }
  knob::Done apply(const knob::Order& order) { return executor.apply({order}).done.at(0); }
  knob::Done undo() { return executor.apply({}).undone.at(0).done; }
};

}  // namespace koord::test
