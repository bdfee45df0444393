// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/performance.hpp"

#include <utility>

namespace koord::check {
namespace {

constexpr int kTicks = 3;

Outcome play_class(const Suspect& suspect, std::size_t index, const std::function<Outcome(Part&)>& play) {
  auto module = load::Module::load_untried(suspect.path, *suspect.manifest);
  if (!module) return Outcome::failed(module.error().message());
  PluginTrial trial;
  Part part{suspect, trial, **module, index};
  return play(part);
}

}  // namespace

Outcome perform(const Suspect& suspect, const std::function<Outcome(Part&)>& play) {
  Outcome last;
  bool applied = false;
  for (std::size_t index = 0; index < suspect.classes; ++index) {
    Outcome outcome = try_apart([&] { return play_class(suspect, index, play); });
    if (outcome.kind == Outcome::Kind::failed) return outcome;
    if (outcome.kind == Outcome::Kind::passed) applied = true;
    last = std::move(outcome);
  }
  return applied && last.kind != Outcome::Kind::passed ? Outcome{} : last;
}

SessionRecord live(Part& part) {
  SessionRecord session;
  Player player = part.player();
  if (player.create() == KOORD_OK) {
    session.init = player.init();
    session.began = session.init == KOORD_OK;
  }
  if (session.began) {
    if (part.suspect.run_ends) player.start_run();
    for (int i = 0; i < kTicks; ++i) {
      session.ticked |= is_fine(player.tick());
    }
    player.on_event(KOORD_ON_NODE | KOORD_ON_PODS | KOORD_ON_NODE_SLO | KOORD_ON_TOPOLOGY | KOORD_ON_CONFIG);
    player.stop();
  }
  if (player.self()) player.destroy();
  session.failure = player.last_failure();
  session.held = player.host().snapshots_held();
  return session;
}

}  // namespace koord::check
