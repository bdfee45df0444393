// SPDX-License-Identifier: Apache-2.0
// Handling of the originals that a previous process has left.
#include "core/base/saturating.hpp"
#include "core/knob/executor.hpp"

namespace koord::knob {

std::vector<KnobKey> Executor::adopt(const std::vector<Original>& left, Duration patience, bool and_ttl) {
  const Time now = clock_.now();
  std::vector<KnobKey> unknown;
  for (const Original& kept : left) {
    const Knob* knob = find_knob(kept.knob);
    Result<Value> value =
        knob ? files_.decoded(*knob, kept.texts, kept.key.item) : Result<Value>(invalid("no such knob"));
    if (!value) {
      unknown.push_back(kept.key);
      continue;
    }
    Held held{kept.level, knob, {kept.texts, *std::move(value), kept.cgroup}, kept.plugin, kept.written};
    if (Result<Value> written = files_.decoded(*knob, kept.written, kept.key.item)) held.target = *std::move(written);
    const Duration stays = and_ttl ? Duration(saturating_sum(kept.ttl.count(), patience.count())) : patience;
    held.adopted_until = later(now, stays);
    std::vector<Texts> ours{kept.written};
    ours.insert(ours.end(), kept.asked.begin(), kept.asked.end());
    files_.adopt({*knob, kept.key.cgroup_dir, kept.key.item}, ours);
    const Result<KnobFiles::Reading> found = files_.read({*knob, kept.key.cgroup_dir, kept.key.item});
    if (found && is_ours(held, kept, *found)) held.written = found->texts;
    held_.insert_or_assign(kept.key, std::move(held));
    if (!ordered_.contains(kept.key)) given_up_.insert(kept.key);
  }
  return unknown;
}

Result<void> Executor::hold(std::span<const Adjusted> adjusted, Duration patience) {
  std::vector<Original> originals;
  for (const Adjusted& one : adjusted) {
    const Knob* knob = find_knob(one.knob);
    if (knob == nullptr) return invalid("no knob has the name '" + one.knob + "'");
    const KnobKey key{one.cgroup_dir, std::string(knob->resource), {}};
    if (held_.contains(key)) continue;
    Value before = TRY(parse_value(*knob, one.before));
    KnobFiles::Reading now = TRY(files_.read({*knob, one.cgroup_dir}));
    if (same(*knob, now.value, before)) continue;
    Texts texts = TRY(files_.texts_of(*knob, before));
    originals.push_back({.key = key,
                         .level = one.level,
                         .knob = std::string(knob->name),
                         .cgroup = now.cgroup,
                         .texts = std::move(texts),
                         .written = std::move(now.texts),
                         .plugin = one.plugin});
  }
  if (originals.empty()) return {};
  TRY(originals_.keep(originals));
  adopt(originals, patience, false);
  return {};
}

// Between two writes, or two files of one knob, the process may have ended: any of what was on its way may be there.
bool Executor::is_ours(const Held& held, const Original& kept, const KnobFiles::Reading& now) const {
  if (now.cgroup != kept.cgroup) return false;
  std::vector<const Texts*> ours{&kept.texts, &kept.written};
  for (const Texts& asked : kept.asked) ours.push_back(&asked);
  const auto is_one_of_ours = [&](std::size_t file) {
    return std::any_of(ours.begin(), ours.end(),
                       [&](const Texts* one) { return file < one->size() && (*one)[file] == now.texts[file]; });
  };
  if (held.knob->place == Place::processes) return is_any_of(*held.knob, now.texts, ours);
  std::size_t same_files = 0;
  while (same_files < now.texts.size() && is_one_of_ours(same_files)) ++same_files;
  if (same_files == now.texts.size()) return true;
  // The kernel spells written values in its own way.
  return std::any_of(ours.begin(), ours.end(), [&](const Texts* one) {
    const Result<Value> value = files_.decoded(*held.knob, *one, kept.key.item);
    return value && same(*held.knob, now.value, *value);
  });
}

std::size_t Executor::adopted() const {
  return static_cast<std::size_t>(std::count_if(
      held_.begin(), held_.end(), [](const auto& entry) { return entry.second.adopted_until.has_value(); }));
}

void Executor::end_patience() {
  for (auto& [key, held] : held_)
    if (held.adopted_until) held.adopted_until = Time::min();
}

}  // namespace koord::knob
