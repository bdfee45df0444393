// SPDX-License-Identifier: Apache-2.0
// koordctl plugin run: runs a plugin without an agent, on this machine or on the recording of a different machine.
#include <memory>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/confined_run.hpp"
#include "core/ctl/plugin_options.hpp"
#include "core/ctl/run_view.hpp"
#include "core/workshop/loading.hpp"
#include "core/workshop/run.hpp"
#include "core/workshop/run_node.hpp"

namespace koord::ctl {
namespace {

void describe_run(po::options_description& options) {
  describe_node(options);
  describe_configuration(options);
  options.add_options()("ticks,t", po::value<std::uint64_t>()->default_value(3), "number of ticks")(
      "period,p", po::value<std::string>()->value_name("DURATION"), "time between ticks; default: the plugin's own")(
      "class,c", po::value<std::string>()->value_name("NAME"), "only this class of the plugin")(
      "inprocess", po::bool_switch(), "in this process, where nothing confines the plugin")(
      "confined", po::bool_switch(),
      "confine its process as an agent confines a third party's plugin: a user of its own, Landlock, the filter of system calls, and the "
      "grants of plugins.settings.ID in --config, also for files and endpoints that the host reads for it; without a cgroup. Needs root. "
      "Without this option the process has your user, no capabilities and the filter of system calls, and the host reads every file and "
      "scrapes every endpoint for it that your user may")("trace", po::value<std::string>()->value_name("FILE"),
                                                          "write the calls as a trace that Perfetto opens");
}

Result<void> run_plugin(const Invocation& invocation) {
  const workshop::OpenedPlugin piece = TRY(workshop::open_plugin(invocation.text("argument")));
  const std::string config_json = TRY(configuration_of(invocation, piece.manifest.id));
  workshop::RunSettings settings{.plugin_id = piece.manifest.id,
                                 .class_name = invocation.text("class"),
                                 .ticks = invocation.options["ticks"].as<std::uint64_t>(),
                                 .config_json = config_json};
  if (invocation.has("period")) settings.period = TRY(parse_duration(invocation.text("period")));
  const bool in_process = invocation.options["inprocess"].as<bool>(),
             is_confined = invocation.options["confined"].as<bool>();
  if (in_process && is_confined) return invalid("--inprocess and --confined exclude each other");
  child::SnapshotImages images;
  workshop::Loading loading{in_process ? config::Isolation::in_process : config::Isolation::process, {}, images};
  if (!in_process) loading.child_program = TRY(workshop::find_child_program());

  const config::Config config = TRY(configuration_for(invocation, piece.manifest.id));
  settings.scrape_memory = config.plugins.of(piece.manifest.id).max_scrape_memory;
  const auto node = TRY(open_node(invocation, workshop::make_live_node));
  std::unique_ptr<ConfinedRun> confined;
  if (is_confined) {
    confined = TRY(ConfinedRun::make(config, piece.manifest.id, node->roots()));
    loading.layers = &confined->layers();
    loading.limits = settings.limits = confined->limits();
    settings.rights = confined->rights();
  }
  const auto plugin = TRY(workshop::load(piece, loading));
  if (invocation.output == Output::table)
    invocation.out << (confined ? confinement_line(plugin->isolation()) : unconfined_line(in_process)) << "\n\n";
  const workshop::RunReport report = TRY(workshop::run(plugin, *node, settings));
  if (invocation.has("trace")) TRY(write_file_atomically(invocation.text("trace"), trace_of(report)));
  invocation.out << (invocation.output == Output::json ? json_of(report) : tables_of(report));
  if (const workshop::RunCall* failed = report.first_failure())
    return Error{{},
                 failed->cls + ": " + failed->name + "() of tick " + std::to_string(failed->tick) + ": " +
                     describe(failed->result)};
  return {};
}

}  // namespace

const Command kPluginRun{
    "plugin run",
    "FILE",
    "Run a plugin without an agent, and show its metrics, proposals and calls. Runs code of the file with the rights of "
    "your user, unless --confined is given.",
    describe_run,
    run_plugin,
    true};

}  // namespace koord::ctl
