// SPDX-License-Identifier: Apache-2.0
// koordctl plugin fuzz: runs a plugin with random behaviour of the host, in separate processes. No agent is needed.
#include <filesystem>

#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/plugin_options.hpp"
#include "core/workshop/check/fuzz.hpp"
#include "core/workshop/loading.hpp"

namespace koord::ctl {
namespace {

void describe_fuzz(po::options_description& options) {
  const check::FuzzSettings settings;
  options.add_options()("seed", po::value<std::uint64_t>()->default_value(settings.seed),
                        "seed of the first session; each session uses the next one")(
      "sessions", po::value<std::uint64_t>()->default_value(settings.sessions),
      "number of sessions, each in a process of its own");
  describe_configuration(options);
}

Result<void> fuzz(const Invocation& invocation) {
  const workshop::OpenedPlugin piece = TRY(workshop::open_plugin(invocation.text("argument")));
  const std::string config_json = TRY(configuration_of(invocation, piece.manifest.id));
  const check::FuzzSettings settings{.seed = invocation.options["seed"].as<std::uint64_t>(),
                                     .sessions = invocation.options["sessions"].as<std::uint64_t>(),
                                     .config_json = config_json};
  std::uint64_t lived = 0;
  const std::optional<check::FuzzFinding> finding =
      TRY(check::fuzz_plugin(piece.path, settings, [&](std::uint64_t sessions) { lived = sessions; }));
  if (invocation.output == Output::json) {
    json::object about{{"sessions", lived}};
    if (finding) about["finding"] = json::object{{"seed", finding->seed}, {"detail", finding->detail}};
    invocation.out << json::serialize(about) << "\n";
  } else {
    invocation.out << lived << " sessions without a finding, seeds from " << settings.seed << " on\n";
  }
  if (!finding) return {};
  return invalid("seed " + std::to_string(finding->seed) + ": " + finding->detail + "\nAgain: koordctl plugin fuzz " +
                 invocation.text("argument") + " --sessions 1 --seed " + std::to_string(finding->seed));
}

}  // namespace

const Command kPluginFuzz{
    "plugin fuzz",
    "FILE",
    "Run random sessions of a plugin, and print the seed of a failure. Runs code of the file with the rights of your user.",
    describe_fuzz,
    fuzz,
    true};

}  // namespace koord::ctl
