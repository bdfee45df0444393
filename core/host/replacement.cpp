// SPDX-License-Identifier: Apache-2.0
#include "core/host/replacement.hpp"

#include <algorithm>
#include <utility>

namespace koord::host {
namespace {

// The new plugin waits one period for the end of the old one, then it ticks beside the old one. If the period is short,
// it waits at least this long, which is enough for any old plugin to end.
constexpr Duration kLeastOverlap = std::chrono::milliseconds(100);
constexpr Duration kMostOverlap = std::chrono::seconds(5);

}  // namespace

Replacement::Replacement(event::Loop& loop, metric::Registry& metrics, std::shared_ptr<ManagedPlugin> old,
                         std::shared_ptr<ManagedPlugin> fresh, Done done)
    : loop_(loop),
      metrics_(metrics),
      old_(std::move(old)),
      fresh_(std::move(fresh)),
      beside_(old_ != nullptr && !old_->ended()),
      done_(std::move(done)) {
  if (beside_)
    metrics_.begin_handover(fresh_->file().manifest.id);
  else
    fresh_->release_ticks();
}

bool Replacement::advance() {
  std::string reason;
  if (stage_ == Stage::handing_over && old_->ended()) finish();
  if (stage_ != Stage::starting) return false;
  switch (fresh_->how_it_starts(reason)) {
    case ManagedPlugin::Start::pending:
      return false;
    case ManagedPlugin::Start::failed:
      give_up(reason);
      return false;
    case ManagedPlugin::Start::runs:
      return started();
  }
  return false;
}

bool Replacement::started() {
  if (!beside_) {
    finish();
    return false;
  }
  stage_ = Stage::handing_over;
  const PluginStatus before = old_->status();
  fresh_->inherit(before);
  old_->stop();
  const Duration period = before.period > Duration::zero() ? before.period : kMostOverlap;
  patience_ = loop_.after(std::clamp(period, kLeastOverlap, kMostOverlap), [this] { finish(); });
  if (old_->ended()) finish();
  return true;
}

void Replacement::finish() {
  if (std::exchange(stage_, Stage::over) == Stage::over) return;
  patience_.reset();
  if (beside_) metrics_.end_handover(fresh_->file().manifest.id);
  fresh_->release_ticks();
  done_({});
}

void Replacement::give_up(const std::string& reason) {
  if (stage_ == Stage::handing_over) return finish();
  if (std::exchange(stage_, Stage::over) == Stage::over) return;
  if (beside_) {
    fresh_->stop();
    old_->count_refused_reload();
    old_->set_note("runs the file it had before: " + reason);
    if (!metrics_.abandon_handover(old_->file().manifest.id)) old_->restart();
  }
  done_(invalid(reason));
}

}  // namespace koord::host
