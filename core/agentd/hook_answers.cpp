// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/hook_answers.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/hook/creation.hpp"
#include "core/hook/creations.hpp"
#include "core/host/hook_stages.hpp"

namespace koord::agentd {
namespace {

constexpr std::string_view kNothing = "{}";

bool is_of(const api::HookLine& line, const host::HookTarget& target, std::uint32_t stage) {
  return line.use.plugin == target.plugin && line.use.name == target.name && line.use.stage == stage;
}

}  // namespace

HookAnswers::HookAnswers(const Services& services, HookQuestions& questions, Connection connection,
                         nri::KeepAnnotation keep)
    : services_(services), questions_(questions), connection_(std::move(connection)), keep_(std::move(keep)) {
  constexpr std::pair<Answered, const char*> kNames[] = {{Answered::changed, "changed"},
                                                         {Answered::unchanged, "unchanged"},
                                                         {Answered::rejected, "rejected"},
                                                         {Answered::invalid, "invalid"}};
  for (const auto& [answered, name] : kNames)
    counter(answered) = services_.metrics.counter("host_hook_proxy_questions_total",
                                                  "Questions of koord-cri-proxy about pods and containers, by answer.",
                                                  {{"result", name}});
}

void HookAnswers::report(std::function<void(const api::HookReport&)> done) {
  auto report = std::make_shared<api::HookReport>();
  report->hooks = hooks();
  report->proxy = proxy_questions();
  services_.loop.post([this, report, done = std::move(done)] {
    report->connection = connection_();
    done(*report);
  });
}

api::ProxyQuestions HookAnswers::proxy_questions() const {
  const auto count_of = [this](Answered answered) {
    return static_cast<std::uint64_t>(counters_[static_cast<std::size_t>(answered)].value());
  };
  api::ProxyQuestions questions{.changed = count_of(Answered::changed),
                                .unchanged = count_of(Answered::unchanged),
                                .rejected = count_of(Answered::rejected),
                                .invalid = count_of(Answered::invalid)};
  questions.asked = questions.changed + questions.unchanged + questions.rejected + questions.invalid;
  const std::lock_guard lock(mutex_);
  questions.last_problem = last_problem_;
  questions.last = last_;
  return questions;
}

std::vector<api::HookLine> HookAnswers::hooks() const {
  std::vector<api::HookLine> lines;
  if (services_.hook_statistics != nullptr)
    for (host::HookUse& use : services_.hook_statistics->all()) lines.push_back({.use = std::move(use)});
  for (const host::HookStage& stage : host::hook_stages()) {
    for (const host::HookTarget& target : questions_.running(stage.bit)) {
      auto line = std::find_if(lines.begin(), lines.end(),
                               [&](const api::HookLine& one) { return is_of(one, target, stage.bit); });
      if (line == lines.end())
        line = lines.insert(line, {.use = {.plugin = target.plugin, .name = target.name, .stage = stage.bit}});
      line->is_running = true;
    }
  }
  for (api::HookLine& line : lines) line.mode = services_.governor.mode(line.use.plugin);
  std::sort(lines.begin(), lines.end(), [](const api::HookLine& a, const api::HookLine& b) {
    return std::tie(a.use.plugin, a.use.name, a.use.stage) < std::tie(b.use.plugin, b.use.name, b.use.stage);
  });
  return lines;
}

metric::HostCounter& HookAnswers::counter(Answered answered) { return counters_[static_cast<std::size_t>(answered)]; }

void HookAnswers::count(Answered answered) {
  counter(answered).add();
  const std::lock_guard lock(mutex_);
  last_ = services_.clock.now();
}

void HookAnswers::keep_problem(std::string problem) {
  cut_utf8(problem, host::HookStatistics::kMostText);
  const std::lock_guard lock(mutex_);
  last_problem_ = std::move(problem);
}

void HookAnswers::answer(std::uint32_t stage, const std::string& question,
                         std::function<void(Result<std::string>)> done) {
  Result<hook::CriQuestion> read = hook::read_cri_question(stage, question, keep_);
  if (!read) {
    count(Answered::invalid);
    keep_problem(read.error().message());
    return done(std::move(read).error());
  }
  auto asked = std::make_shared<const hook::CriQuestion>(*std::move(read));
  const auto then = [this, asked, done](const host::HookVerdict& verdict) { done(answer_of(*asked, verdict)); };
  const bool is_asked = questions_.ask({.stage = stage,
                                        .asked_by = "koord-cri-proxy",
                                        .pod = asked->pod,
                                        .container = asked->container ? &*asked->container : nullptr},
                                       then);
  if (is_asked) return;
  count(Answered::unchanged);
  done(std::string(kNothing));
}

std::string HookAnswers::answer_of(const hook::CriQuestion& question, const host::HookVerdict& verdict) {
  if (verdict.rejection) {
    count(Answered::rejected);
    return hook::cri_rejection(verdict.rejection->plugin + ": " + verdict.rejection->why);
  }
  const state::Pod pod = hook::pod_of(question.pod, *services_.hub.current());
  remember(question, pod, verdict);
  const nri::Resources requested = question.container ? question.container->resources : nri::Resources();
  const std::string cgroup_dir = hook::new_cgroup_of(pod);
  std::string answer = hook::cri_answer(verdict, requested, questions_.is_v2(),
                                        questions_.other_parts(question.stage, cgroup_dir, verdict));
  count(answer == kNothing ? Answered::unchanged : Answered::changed);
  return answer;
}

// The request has no container id yet, so the record is for the next new container with this name in the state.
void HookAnswers::remember(const hook::CriQuestion& question, const state::Pod& pod, const host::HookVerdict& verdict) {
  if (question.stage != KOORD_STAGE_PRE_CREATE_CONTAINER) return;
  hook::CreationRecord record = hook::record_of(verdict, question.pod.uid, *question.container);
  for (const state::Container& known : pod.containers)
    if (known.name == record.container) record.before_id = hook::bare_id(known.id);
  questions_.remember(std::move(record));
}

}  // namespace koord::agentd
