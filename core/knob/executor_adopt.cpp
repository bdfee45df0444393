// SPDX-License-Identifier: Apache-2.0
// Adopts the originals that a previous process has left, and holds knobs that a container runtime has set.
#include "core/base/saturating.hpp"
#include "core/knob/executor.hpp"

namespace koord::knob {
namespace {

// Returns the texts that a new cgroup has if the runtime is asked for no set. On v1 they are the texts of the parent
// cgroup.
Result<Texts> texts_without_set(const KnobFiles& files, const Knob& knob, std::string_view cgroup_dir) {
  if (!files.is_nested(knob)) return Texts{""};
  const std::size_t end = cgroup_dir.rfind('/');
  KnobFiles::Reading around =
      TRY(files.read({knob, end == std::string_view::npos ? std::string_view() : cgroup_dir.substr(0, end)}));
  return std::move(around.texts);
}

}  // namespace

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

// Returns the texts of `before`. For cpu.idle it contains the shares, as in "0 512". The kernel changes the weight with
// cpu.idle, so a revert restores both.
Result<Texts> Executor::texts_before(const Knob& knob, std::string_view before) const {
  const std::size_t space = knob.form == Form::idle ? before.find(' ') : std::string_view::npos;
  const Value value = TRY(parse_value(knob, before.substr(0, space)));
  Texts texts = TRY(files_.texts_of(knob, value));
  if (space == std::string_view::npos || texts.size() < 2) return texts;
  const Knob& of_shares = *find_knob("cpu.shares");
  const Value shares = TRY(parse_value(of_shares, before.substr(space + 1)));
  texts[1] = TRY(files_.texts_of(of_shares, shares))[0];
  return texts;
}

// Corrects the original of a knob that a strategy wrote before the runtime's answer was held. In that case, the
// original is the value that the hook had set.
Result<void> Executor::correct_original(const KnobKey& key, Held& held, Texts texts) {
  KnobFiles::Reading corrected = held.original;
  corrected.texts = std::move(texts);
  corrected.value = TRY(files_.decoded(*held.knob, corrected.texts, key.item));
  corrected = original_in(key, *held.knob, std::move(corrected));
  if (corrected.texts == held.original.texts) return {};
  for (Original& kept : originals_.all()) {
    if (kept.key != key) continue;
    kept.texts = corrected.texts;
    kept.asked = {kept.written};
    TRY(originals_.keep(std::span(&kept, 1)));
  }
  held.original = std::move(corrected);
  return {};
}

Result<std::optional<Original>> Executor::original_to_hold(const Adjusted& adjusted) {
  const Knob* knob = find_knob(adjusted.knob);
  if (knob == nullptr) return invalid("no knob has the name '" + adjusted.knob + "'");
  KnobKey key{adjusted.cgroup_dir, std::string(knob->resource), {}};
  const bool is_no_set = knob->form == Form::set && adjusted.before.empty();
  Texts texts =
      TRY(is_no_set ? texts_without_set(files_, *knob, adjusted.cgroup_dir) : texts_before(*knob, adjusted.before));
  KnobFiles::Reading now = TRY(files_.read({*knob, adjusted.cgroup_dir}));
  if (const auto held = held_.find(key); held != held_.end()) {
    if (held->second.original.cgroup == now.cgroup) TRY(correct_original(key, held->second, std::move(texts)));
    return std::optional<Original>();
  }
  // The conversion to texts may round the value: on v2, shares become a weight.
  const Result<Value> asked = parse_value(*knob, adjusted.before);
  const Value before = TRY(files_.decoded(*knob, texts, {}));
  if ((asked && same(*knob, now.value, *asked)) || same(*knob, now.value, before)) return std::optional<Original>();
  Original original{.key = std::move(key),
                    .level = adjusted.level,
                    .knob = std::string(knob->name),
                    .cgroup = now.cgroup,
                    .texts = std::move(texts),
                    .written = std::move(now.texts),
                    .plugin = adjusted.plugin};
  return std::optional(std::move(original));
}

// If one knob fails, the other knobs are held all the same. Ignores knobs that this kernel lacks, because a runtime
// cannot have set them.
Result<void> Executor::hold(std::span<const Adjusted> adjusted, Duration patience) {
  std::vector<Original> originals;
  Result<void> failed;
  for (const Adjusted& one : adjusted) {
    Result<std::optional<Original>> original = original_to_hold(one);
    if (!original && !original.error().is(std::errc::not_supported))
      failed = std::move(original).error();
    else if (original && *original)
      originals.push_back(**std::move(original));
  }
  if (originals.empty()) return failed;
  TRY(originals_.keep(originals));
  adopt(originals, patience, false);
  return failed;
}

// Returns whether the agent wrote the current value. The previous process may have ended between two writes, or between
// two files of one knob, so the knob may have any of the values that were being written.
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
  // The kernel may show a written value with a different spelling.
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
