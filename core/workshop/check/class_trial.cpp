// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/class_trial.hpp"

#include <utility>

namespace koord::check {
namespace {

constexpr int kTicks = 3;

Outcome run_class(const Suspect& suspect, std::size_t index, const std::function<Outcome(ClassTrial&)>& body) {
  auto module = load::Module::load_untried(suspect.path, *suspect.manifest);
  if (!module) return Outcome::failed(module.error().message());
  PluginTrial trial;
  ClassTrial class_trial{suspect, trial, **module, index};
  return body(class_trial);
}

}  // namespace

Outcome run_in_trial(const Suspect& suspect, const std::function<Outcome(ClassTrial&)>& body) {
  Outcome last;
  bool applied = false;
  for (std::size_t index = 0; index < suspect.classes; ++index) {
    Outcome outcome = try_apart([&] { return run_class(suspect, index, body); });
    if (outcome.kind == Outcome::Kind::failed) return outcome;
    if (outcome.kind == Outcome::Kind::passed) applied = true;
    last = std::move(outcome);
  }
  return applied && last.kind != Outcome::Kind::passed ? Outcome{} : last;
}

SessionRecord run_session(ClassTrial& class_trial) {
  SessionRecord session;
  CalledInstance instance = class_trial.instance();
  if (instance.create() == KOORD_OK) {
    session.init = instance.init();
    session.began = session.init == KOORD_OK;
  }
  if (session.began) {
    if (class_trial.suspect.run_ends) instance.start_run();
    for (int i = 0; i < kTicks; ++i) {
      session.ticked |= is_fine(instance.tick());
    }
    instance.on_event(KOORD_ON_NODE | KOORD_ON_PODS | KOORD_ON_NODE_SLO | KOORD_ON_TOPOLOGY | KOORD_ON_CONFIG);
    instance.stop();
  }
  if (instance.self()) instance.destroy();
  session.failure = instance.last_failure();
  session.held = instance.host().snapshots_held();
  return session;
}

}  // namespace koord::check
