// SPDX-License-Identifier: Apache-2.0
#include "core/knob/process_scores.hpp"

#include <algorithm>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/processes.hpp"

namespace koord::knob {
namespace {

constexpr const char* kFile = "oom_score_adj";
// Limits the work for a container that forks endlessly. The next round writes the rest.
constexpr int kMostPasses = 4;

struct Scored {
  ProcessId id;
  std::int64_t score;
};

Result<std::int64_t> score_of(const OpenProcess& process) {
  const std::string text = TRY(read_file_at(process.directory.get(), kFile));
  return parse_int(trim(text));
}

Scores scores_in(std::vector<Scored> all) {
  std::sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
    return std::pair(a.id.start, a.id.pid) < std::pair(b.id.start, b.id.pid);
  });
  Scores scores{all.front().score, all.front().id.start, all.back().id.start};
  for (const Scored& one : all)
    if (one.score != scores.main && scores.others.size() < ProcessScores::kMostOthers)
      scores.others.emplace(one.id, one.score);
  return scores;
}

Error with_rights(Error error) {
  if (error.is(std::errc::permission_denied) || error.is(std::errc::operation_not_permitted))
    error.text += " (below the score that it was started with: needs CAP_SYS_RESOURCE; of another user: "
                  "CAP_DAC_OVERRIDE)";
  return error;
}

}  // namespace

Result<std::string> ProcessScores::read(const KnobTarget& target) const {
  std::vector<Scored> all;
  for (const std::int32_t pid : TRY(processes_in(layout_, target.cgroup_dir))) {
    const std::optional<OpenProcess> process = open_process(proc_root_, pid);
    if (!process) continue;
    const Result<std::int64_t> score = score_of(*process);
    if (!score && !is_ended(score.error())) return score.error();
    if (score) all.push_back({process->id, *score});
  }
  if (all.empty()) return ended("the processes of '" + std::string(target.cgroup_dir) + "' have ended");
  return text_of(scores_in(std::move(all)));
}

Result<void> ProcessScores::write(const KnobTarget& target, const std::string& text) const {
  const Scores wanted = TRY(parse_scores(text));
  for (int pass = 0; pass < kMostPasses; ++pass) {  // processes may fork meanwhile
    const std::size_t written = TRY(write_each(target, wanted));
    if (written == 0) break;
  }
  return {};
}

// Returns the number of processes that were written.
Result<std::size_t> ProcessScores::write_each(const KnobTarget& target, const Scores& wanted) const {
  std::size_t count = 0;
  for (const std::int32_t pid : TRY(processes_in(layout_, target.cgroup_dir))) {
    const std::optional<OpenProcess> process = open_process(proc_root_, pid);
    if (!process) continue;
    const Result<std::int64_t> now = score_of(*process);
    const std::int64_t score = wanted.of(process->id);
    if (now && *now == score) continue;
    Result<void> written = write_value_at(process->directory.get(), kFile, std::to_string(score),
                                          proc_root_ + "/" + std::to_string(pid) + "/" + kFile);
    if (!written && !is_ended(written.error())) return with_rights(std::move(written).error());
    if (written) ++count;
  }
  return count;
}

std::uint64_t ProcessScores::inode(const KnobTarget& target) const { return cgroup_inode(layout_, target.cgroup_dir); }

Value ProcessScores::restorable(const KnobTarget& target, Value original) const {
  if (original.fields.empty()) return original;
  std::set<std::string> here;
  for (const std::int32_t pid : processes_in(layout_, target.cgroup_dir).value_or({}))
    if (const std::optional<OpenProcess> process = open_process(proc_root_, pid)) here.insert(name_of(process->id));
  std::erase_if(original.fields, [&](const auto& field) { return !here.contains(field.first); });
  return original;
}

}  // namespace koord::knob
