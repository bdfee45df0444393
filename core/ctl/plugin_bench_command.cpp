// SPDX-License-Identifier: Apache-2.0
// koordctl plugin bench: measures the cost of a plugin's tick, or of a hook's answer, both in this process and in the
// plugin's own process.
#include <algorithm>
#include <cmath>

#include "core/base/to_seconds.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/ctl/allocation_count.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/plugin_options.hpp"
#include "core/ctl/table.hpp"
#include "core/host/isolation.hpp"
#include "core/workshop/bench.hpp"
#include "core/workshop/run_node.hpp"

namespace koord::ctl {
namespace {

void describe_bench(po::options_description& options) {
  describe_node(options);
  describe_configuration(options);
  options.add_options()(
      "ticks,t", po::value<std::uint64_t>()->default_value(1000),
      "number of ticks; for a hook: number of answers, about each pod and container of the node in turn")(
      "class,c", po::value<std::string>()->value_name("NAME"), "which class of the plugin; default: the first");
}

std::string one_decimal(double number) { return format_number(std::round(number * 10) / 10); }

struct Row {
  std::string isolation_name;
  Result<workshop::BenchResult> result;
};

bool is_of_hook(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.result && row.result->is_hook; });
}

std::string as_table(const std::vector<Row>& rows, std::uint64_t ticks) {
  const std::string what = is_of_hook(rows) ? "answer" : "tick", column = is_of_hook(rows) ? "ANSWER" : "TICK";
  Table table({{"ISOLATION"},
               {"START", true},
               {column, true},
               {"P99", true},
               {"CPU", true},
               {"SYSCALLS", true},
               {"ALLOCATIONS", true},
               {"MEMORY", true},
               {"GROWTH", true}});
  std::string notes;
  for (const auto& [isolation_name, result] : rows) {
    if (!result) {
      table.add({isolation_name, "-", "-", "-", "-", "-", "-", "-", "-"});
      notes += isolation_name + ": " + result.error().message() + "\n";
      continue;
    }
    auto optional = [](const std::optional<double>& number) { return number ? one_decimal(*number) : "-"; };
    table.add({isolation_name, format_seconds(to_seconds(result->start)), format_seconds(to_seconds(result->median)),
               format_seconds(to_seconds(result->p99)), format_seconds(result->cpu_ns / 1e9),
               optional(result->system_calls), optional(result->allocations),
               format_bytes(static_cast<double>(result->private_bytes)),
               format_bytes(static_cast<double>(result->growth_bytes))});
  }
  return table.render() + "\n" + std::to_string(ticks) + " " + what + "s. Per " + what + ": " + column +
         " is the median, SYSCALLS of both sides, ALLOCATIONS with the host's own.\n"
         "MEMORY is private to the plugin's process (in process: koordctl's own included), GROWTH over all " +
         what + "s.\n" + notes;
}

std::string as_json(const std::vector<Row>& rows, std::uint64_t ticks) {
  json::array isolations;
  for (const auto& [isolation_name, result] : rows) {
    json::object about{{"isolation", isolation_name}};
    if (!result) {
      about["error"] = result.error().message();
    } else {
      about["startSeconds"] = to_seconds(result->start);
      about["tickSeconds"] = to_seconds(result->median);
      about["tickP99Seconds"] = to_seconds(result->p99);
      about["cpuSeconds"] = result->cpu_ns / 1e9;
      if (result->system_calls) about["systemCalls"] = *result->system_calls;
      if (result->allocations) about["allocations"] = *result->allocations;
      about["privateBytes"] = result->private_bytes;
      about["growthBytes"] = result->growth_bytes;
    }
    isolations.push_back(std::move(about));
  }
  return json::serialize(json::object{{"ticks", ticks}, {"isolations", std::move(isolations)}}) + "\n";
}

Result<void> bench_plugin(const Invocation& invocation) {
  const workshop::OpenedPlugin piece = TRY(workshop::open_plugin(invocation.text("argument")));
  const std::string config_json = TRY(configuration_of(invocation, piece.manifest.id));
  const workshop::BenchSettings settings{.class_name = invocation.text("class"),
                                         .config_json = config_json,
                                         .ticks = invocation.options["ticks"].as<std::uint64_t>(),
                                         .allocations = allocation_count};
  auto make_node = [&] { return open_node(invocation, workshop::make_hasty_node); };
  child::SnapshotImages images;
  const std::string program = TRY(workshop::find_child_program());
  std::vector<Row> rows;
  for (auto [isolation_name, isolation] :
       {std::pair{"in process", config::Isolation::in_process}, std::pair{"process", config::Isolation::process}}) {
    if (!host::runs_in_child(piece.manifest, load::Origin::third_party, isolation))
      continue;  // this plugin must not run in this process
    rows.push_back({isolation_name, workshop::bench(piece, {isolation, program, images}, make_node, settings)});
  }
  invocation.out << (invocation.output == Output::json ? as_json(rows, settings.ticks)
                                                       : as_table(rows, settings.ticks));
  for (const Row& row : rows)
    if (!row.result) return row.result.error();
  return {};
}

}  // namespace

const Command kPluginBench{
    "plugin bench",
    "FILE",
    "Measure the cost of a plugin's tick, or of a hook's answer, in process and in a process of its own. Runs code of "
    "the file with the rights of your user.",
    describe_bench,
    bench_plugin,
    true};

}  // namespace koord::ctl
