// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/restore.hpp"

#include "core/agentd/qos.hpp"
#include "core/base/clock.hpp"
#include "core/config/load.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"

namespace koord::agentd {
namespace {

int complain(std::ostream& out, const std::string& text, int status) {
  out << text << "\n";
  return status;
}

bool print(const knob::Undone& one, std::ostream& out) {
  const std::string name = (one.key.cgroup_dir.empty() ? "" : one.key.cgroup_dir + " ") + std::string(one.knob->name) +
                           (one.key.item.empty() ? "" : " " + one.key.item);
  out << name << ": " << name_of(one.done.outcome);
  if (!one.done.before.empty()) out << ", was '" << one.done.before << "', is '" << one.done.after << "'";
  out << (one.done.problem.empty() ? "" : ": " + one.done.problem) << "\n";
  return one.done.outcome != decision::Outcome::failed;
}

}  // namespace

int restore(const CommandLine& line, std::ostream& out) {
  const Result<config::Config> config = config::load(line.config_path, line.overrides);
  if (!config) return complain(out, config.error().message(), 2);
  if (config->qos.directory.empty())
    return complain(out, "qos.directory is not set, so no original values are stored", 2);
  const Result<cgroup::Layout> layout = cgroup::Layout::detect(config->roots);
  if (!layout) return complain(out, layout.error().message(), 1);
  const SystemClock clock;
  knob::Journal journal(journal_options(*config, *layout), clock);
  const Result<knob::Journal::Found> found = journal.open();
  if (!found) return complain(out, found.error().message() + "; `koordctl restore` asks an agent that runs", 1);
  for (const std::string& warning : found->warnings) out << warning << "\n";
  knob::Governor governor(clock, *layout, config->roots, journal);
  bool all_well = journal.problem().empty();
  for (const knob::KnobKey& key : governor.adopt(found->left, Duration(0), false)) {
    out << key.cgroup_dir << " " << key.resource << ": this version of koordetector cannot revert it\n";
    all_well = false;
  }
  const std::vector<knob::Undone> undone = governor.stop();
  for (const knob::Undone& one : undone) all_well &= print(one, out);
  if (!journal.problem().empty()) out << journal.problem() << "\n";
  out << undone.size() << " knobs were journaled in '" << config->qos.directory << "'; " << journal.size()
      << " remain\n";
  return all_well ? 0 : 1;
}

}  // namespace koord::agentd
