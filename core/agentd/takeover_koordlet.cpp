// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/takeover_koordlet.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "core/agentd/pod_subjects.hpp"
#include "core/agentd/takeover.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/executor.hpp"
#include "core/state/pod_intake.hpp"

namespace koord::agentd {
namespace {

namespace fs = std::filesystem;
using knob::KnobFiles;

bool has_device_lines(const knob::Knob& knob) {
  return knob.form == knob::Form::fields || knob.form == knob::Form::weight;
}

// Returns the devices with a line in the file. "default" in a weight file is left out, because it does not belong to a
// device.
std::set<std::string> items_in(std::string_view content) {
  std::set<std::string> items;
  while (auto line = next_field(content, '\n'))
    if (auto item = next_word(*line); item && *item != "default") items.emplace(*item);
  return items;
}

// Returns the current values at one place: one value, or one value for each item. Empty: this node does not have the
// knob, or the cgroup was removed.
std::vector<knob::Value> read(const KnobFiles& files, const TakeoverPlace& place) {
  std::vector<knob::Value> values;
  if (!has_device_lines(*place.knob)) {
    if (const auto reading = files.read({*place.knob, place.cgroup_dir})) values.push_back(reading->value);
    return values;
  }
  const Result<std::string> content = files.content(*place.knob, place.cgroup_dir);
  if (!content) return values;
  for (const std::string& item : items_in(*content))
    if (const auto reading = files.read({*place.knob, place.cgroup_dir, item})) values.push_back(reading->value);
  return values;
}

std::string name_with_item(const knob::Knob& knob, const knob::Value& value) {
  return std::string(knob.name) + (value.item.empty() ? "" : " " + value.item);
}

api::TakeoverLine line_of(const StaleValue& stale) {
  const TakeoverPlace& place = stale.place;
  return {.cgroup_dir = place.cgroup_dir,
          .knob = name_with_item(*place.knob, stale.value),
          .pod = place.pod,
          .container = place.container,
          .value = spell(*place.knob, stale.value),
          .base = spell(*place.knob, stale.base),
          .why = stale.why};
}

// Returns "DIR\nRESOURCE ITEM" for each knob that strategies hold now.
std::set<std::string> held_by(const knob::Governor& governor) {
  std::set<std::string> held;
  for (const knob::KnobView& view : governor.knobs())
    if (view.is_held) held.insert(view.cgroup_dir + '\n' + view.knob);
  return held;
}

}  // namespace

struct KoordletTakeover::Found {
  std::vector<StaleValue> stale_values;
  std::size_t read = 0, held = 0;
  PodKnowledge known = PodKnowledge::nothing;
  std::size_t pods = 0;

  // Returns a report with these lines. The lines of stale values are not in it.
  api::TakeoverReport report(std::vector<api::TakeoverLine> lines) const {
    const bool are_pods_known = known != PodKnowledge::nothing;
    return {std::move(lines), read, held, are_pods_known, known == PodKnowledge::cgroups ? pods : 0};
  }
};

KoordletTakeover::KoordletTakeover(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots,
                                   const state::Hub& hub, const knob::Governor& governor, bool has_specs)
    : clock_(clock), layout_(layout), roots_(roots), hub_(hub), governor_(governor), has_specs_(has_specs) {}

KoordletTakeover::Found KoordletTakeover::find() const {
  // Must be read before the snapshot, so that the snapshot has the confirmed list or a newer one.
  const bool is_confirmed = hub_.confirmed(state::kPods).has_value();
  const state::SnapshotPtr snapshot = hub_.current();
  const knob::Subjects subjects = subjects_of(*snapshot);
  const KnobFiles files(layout_, roots_);
  const KubeDirs dirs = kube_dirs_of(state::find_kube_root(layout_, snapshot->kubelet));
  const knob::Knob& cpuset = *knob::find_knob("cpuset.cpus");
  // On v2 the kernel refuses to clear the set of a cgroup that has tasks. So the base is the set of all CPUs, which has
  // the same effect.
  CpuSet all_cpus = files.online_cpus();
  if (const auto of_pods = files.read({cpuset, dirs.all}); of_pods && !of_pods->value.set.empty())
    all_cpus = of_pods->value.set;
  const std::set<std::string> held = held_by(governor_);
  Found found;
  found.known = !is_confirmed ? PodKnowledge::nothing : has_specs_ ? PodKnowledge::specs : PodKnowledge::cgroups;
  found.pods = count_active_pods(*snapshot);
  for (const TakeoverPlace& place : takeover_places(*snapshot, dirs, found.known)) {
    for (const knob::Value& value : read(files, place)) {
      ++found.read;
      std::optional<StaleValue> stale = stale_value_at(place, value, subjects, all_cpus);
      if (!stale) continue;
      if (held.contains(place.cgroup_dir + '\n' + name_with_item(*place.knob, value)))
        ++found.held;
      else
        found.stale_values.push_back(*std::move(stale));
    }
  }
  return found;
}

// Finds the resctrl groups of koordlet. When a group is removed, the kernel moves its threads to the root group.
std::vector<api::TakeoverLine> KoordletTakeover::groups(bool and_remove) const {
  std::vector<api::TakeoverLine> lines;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(roots_.resctrl, error)) {
    const std::string name = entry.path().filename();
    if (!is_group_of_koordlet(name) || !entry.is_directory(error)) continue;
    api::TakeoverLine line{.cgroup_dir = name, .knob = "resctrl"};
    std::string schemata(trim(read_file(entry.path() / "schemata").value_or("")));
    std::replace(schemata.begin(), schemata.end(), '\n', ' ');
    line.value = std::move(schemata);
    line.base = "no group";
    line.why = "a group of koordlet's; its threads go to the root's";
    if (and_remove) {
      const bool is_removed = ::rmdir(entry.path().c_str()) == 0;
      line.result = is_removed ? "applied" : "failed";
      line.now = is_removed ? "no group" : line.value;
      if (!is_removed) line.problem = std::system_category().message(errno);
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end(),
            [](const api::TakeoverLine& a, const api::TakeoverLine& b) { return a.cgroup_dir < b.cgroup_dir; });
  return lines;
}

api::TakeoverReport KoordletTakeover::list() const {
  const Found found = find();
  api::TakeoverReport report = found.report(groups(false));
  for (const StaleValue& stale : found.stale_values) report.lines.push_back(line_of(stale));
  return report;
}

// Writes the base values in the order of the planner, so that no cgroup gets more than its parent. The journal is not
// used, because a revert must not restore koordlet's values.
api::TakeoverReport KoordletTakeover::apply() const {
  const Found found = find();
  api::TakeoverReport report = found.report(groups(true));
  const KnobFiles files(layout_, roots_);
  knob::MemoryOriginals originals;
  knob::Executor executor(files, originals, clock_);
  std::vector<knob::Order> orders;
  for (const StaleValue& stale : found.stale_values)
    orders.push_back({stale.place.level, stale.place.cgroup_dir, stale.place.knob, stale.base, "takeover", {}});
  const knob::Executor::Report written = executor.apply(orders);
  for (std::size_t i = 0; i < found.stale_values.size(); ++i) {
    api::TakeoverLine line = line_of(found.stale_values[i]);
    line.now = written.done[i].after;
    line.result = name_of(written.done[i].outcome);
    line.problem = written.done[i].problem;
    report.lines.push_back(std::move(line));
  }
  return report;
}

}  // namespace koord::agentd
