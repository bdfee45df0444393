// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/driver.hpp"

#include <system_error>
#include <utility>

namespace koord::gpu {
namespace {

Result<void> open_and_count(const std::string& library) {
  const std::unique_ptr<Nvml> nvml = TRY(Nvml::open(library));
  TRY(nvml->device_count());
  return {};
}

}  // namespace

void Driver::configure(Settings settings) {
  release_all();
  settings_ = std::move(settings);
  next_attempt_ns_ = 0;
  state_ = settings_.release ? State::released : State::trying;
  why_ = settings_.release ? "released, as configured" : "";
}

void Driver::release_all() {
  nvml_.reset();
  trial_.reset();
  hangs_ = false;
}

void Driver::poll(std::uint64_t now_ns, std::chrono::milliseconds wait) {
  if (settings_.release || nvml_) return;
  if (hangs_) {
    if (!trial_->child_is_gone()) return;
    trial_.reset();
    hangs_ = false;
  }
  if (!trial_ && !attempt(now_ns)) return;
  if (const auto outcome = trial_->outcome(wait)) judge(*outcome);
}

bool Driver::attempt(std::uint64_t now_ns) {
  if (now_ns < next_attempt_ns_) return false;
  next_attempt_ns_ = now_ns + kRetryNs;
  auto started = ChildTrial::start([this] { return open_and_count(settings_.library); }, settings_.patience);
  if (!started) {
    fail(started.error());
    return false;
  }
  trial_ = std::move(*started);
  return true;
}

void Driver::judge(const Result<void>& outcome) {
  hangs_ = !outcome && outcome.error().is(std::errc::timed_out);
  if (!hangs_) trial_.reset();
  if (!outcome) return fail(outcome.error());
  Result<std::unique_ptr<Nvml>> opened = Nvml::open(settings_.library);
  if (!opened) return fail(opened.error());
  nvml_ = std::move(*opened);
  state_ = State::open;
  why_.clear();
}

void Driver::fail(const Error& error) {
  const bool missing = error.is(std::errc::no_such_file_or_directory);
  state_ = missing ? State::missing : State::broken;
  why_ = missing ? error.text : hangs_ ? "the driver hangs: opening NVML " + error.text : error.message();
}

void Driver::lose(const Error& error, std::uint64_t now_ns) {
  release_all();
  fail(error);
  next_attempt_ns_ = now_ns + kRetryNs;
}

}  // namespace koord::gpu
