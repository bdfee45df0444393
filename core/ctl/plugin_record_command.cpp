// SPDX-License-Identifier: Apache-2.0
// koordctl plugin record: records this node in a file, for `koordctl plugin run --node`.
#include <thread>

#include "core/base/parse.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/plugin_options.hpp"
#include "core/workshop/recorder.hpp"
#include "core/workshop/run_node.hpp"

namespace koord::ctl {
namespace {

void describe_record(po::options_description& options) {
  describe_state(options);
  options.add_options()("frames,f", po::value<std::uint64_t>()->default_value(5), "number of frames to record")(
      "interval,i", po::value<std::string>()->default_value("1s")->value_name("DURATION"), "time between two frames")(
      "all-cgroup-files", po::bool_switch(),
      "record every file of every cgroup, not only those that services of the host read");
}

Result<void> record_node(const Invocation& invocation) {
  const std::string path = invocation.text("argument");
  if (!path.ends_with(".tar") && !path.ends_with(".tar.gz") && !path.ends_with(".tgz"))
    return invalid("expected a FILE that ends in .tar, .tar.gz or .tgz, found '" + path + "'");
  const auto node = workshop::make_live_node({});
  workshop::Recording recording;
  recording.node_name = node->name();
  recording.frames = invocation.options["frames"].as<std::uint64_t>();
  recording.interval = TRY(parse_duration(invocation.text("interval")));
  recording.state = TRY(read_state(invocation));
  recording.all_cgroup_files = invocation.options["all-cgroup-files"].as<bool>();
  if (recording.frames == 0) return invalid("--frames 0, expected at least 1");
  if (recording.interval <= Duration())
    return invalid("--interval '" + invocation.text("interval") + "', expected more than 0s");
  auto sleep = [](Duration time) { std::this_thread::sleep_for(time); };
  const workshop::Fixture fixture = TRY(workshop::record(node->roots(), node->clock(), recording, sleep));
  TRY(workshop::write_fixture(fixture, path));
  invocation.out << path << ": " << fixture.frames.size() << " frames of " << fixture.frames.front().changed.size()
                 << " files\n";
  return {};
}

}  // namespace

const Command kPluginRecord{
    "plugin record", "FILE",      "Record this node's files for koordctl plugin run --node FILE.",
    describe_record, record_node, true};

}  // namespace koord::ctl
