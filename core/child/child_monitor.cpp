// SPDX-License-Identifier: Apache-2.0
#include "core/child/child_monitor.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "core/base/thread_cpu.hpp"
#include "core/child/answers.hpp"

namespace koord::child {
namespace {

using namespace std::chrono_literals;

// The time limit from the close of a child's channels to the end of its process. It allows for a slow machine.
constexpr Duration kTimeToEnd = std::chrono::seconds(1);
constexpr std::size_t kMaxLine = 1024;
// The time limit from the first sign of a child's end until its process has ended.
constexpr Duration kEndPatience = 2s;
constexpr Duration kAccountPeriod = 1ms;
constexpr Duration kNoticeWindow = 1s;
constexpr double kNoticeShare = 0.2;

// Returns the earlier of two time limits, in milliseconds for poll(2). -1 for `milliseconds` and zero for `other` mean
// no limit.
int sooner(int milliseconds, Duration other) {
  if (other == Duration::zero()) return milliseconds;
  const auto most = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(other).count());
  return milliseconds < 0 ? most : std::min(milliseconds, most);
}

}  // namespace

ChildMonitor::ChildMonitor(Process& process, service::PluginContext& context, SnapshotImages& images,
                           std::uint64_t cpu_millis, std::function<void(const std::string& reason)> on_end)
    : process_(process),
      context_(context),
      dispatcher_(context, images),
      on_end_(std::move(on_end)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      cpu_millis_(cpu_millis),
      bucket_(cpu_millis, Steady::now()),
      accounted_(Steady::now()),
      window_begin_(accounted_),
      thread_([this] { monitor(); }) {}

ChildMonitor::~ChildMonitor() {
  dismiss();
  thread_.join();
}

void ChildMonitor::dismiss() {
  {
    std::lock_guard lock(mutex_);
    on_end_ = nullptr;  // dismiss() or the destructor ends it, so no report
  }
  end("the host ended it", Duration::zero());
}

void ChildMonitor::monitor() {
  pthread_setname_np(pthread_self(), "child");
  bool killed = false;
  for (bool serving = true; serving;) {
    const Duration paused = pause();
    const bool listens = paused == Duration::zero();
    pollfd waits[] = {{listens ? process_.services().fd() : -1, POLLIN, 0},
                      {listens && output_open_ ? process_.output() : -1, POLLIN, 0},
                      {process_.pidfd(), POLLIN, 0},
                      {wake_.get(), POLLIN, 0}};
    int ready = ::poll(waits, std::size(waits), sooner(until_next_step(), paused));
    if (ready < 0 && errno != EINTR) break;
    // This check does not depend on poll(), because a busy child must not delay it.
    if (until_next_step() == 0) serving = take_next_step(killed);
    if (waits[3].revents != 0) forget_wake();
    if (waits[1].revents != 0) read_output();
    if (waits[0].revents != 0) serving = serve_request() && serving;
    if (waits[2].revents != 0 && waits[0].revents == 0) serving = false;
  }
  account(Steady::now());
  conclude();
}

// Charges the child for the CPU time that this thread has spent since the last call of this function. Reading the time
// is a system call, so the caller decides by the monotonic clock when it is due.
void ChildMonitor::account(Steady::time_point now) {
  const Duration own = thread_cpu();
  context_.meter()->charge(own - own_cpu_);
  own_cpu_ = own;
  accounted_ = now;
  const Duration all = context_.meter()->cpu();  // includes the CPU time of calls on other threads
  bucket_.spend(all - spent_, now);
  spent_ = all;
  if (now - window_begin_ >= kNoticeWindow) notice_cost(now);
}

// Notes a breach if the child's requests cost much CPU time, before they reach their limit.
void ChildMonitor::notice_cost(Steady::time_point now) {
  const double cores =
      std::chrono::duration<double>(spent_ - window_spent_) / std::chrono::duration<double>(now - window_begin_);
  const double limit = static_cast<double>(cpu_millis_) / 1000;
  window_begin_ = now;
  window_spent_ = spent_;
  if (limit <= 0 || cores < kNoticeShare * limit) return;
  char text[100];
  std::snprintf(text, sizeof text, "its requests cost the agent %.2f of the %.2f cores that it may use", cores, limit);
  context_.note_breach("requests", text);
}

// Returns how long the child's requests must wait.
Duration ChildMonitor::pause() {
  const auto now = Steady::now();
  if (now - accounted_ < kAccountPeriod) return bucket_.wait();
  account(now);
  const Duration wait = bucket_.wait();
  if (wait > Duration::zero())
    context_.note_breach("cpu", "its requests cost the agent all the CPU time that it may use, and wait");
  return wait;
}

void ChildMonitor::forget_wake() {
  std::uint64_t count;
  [[maybe_unused]] ssize_t n = ::read(wake_.get(), &count, sizeof count);
}

// Receives and serves one request. Returns false if there will be no further request.
bool ChildMonitor::serve_request() {
  Result<std::optional<Message>> message = process_.services().receive(Duration::zero());
  if (!message) {
    // A child must not escape the monitor by closing its channel. If it does not end by itself, it is killed.
    if (!process_.wait(kTimeToEnd)) end(message.error().text, Duration::zero());
    return false;
  }
  if (!*message) return true;
  Unpacker request((*message)->bytes);
  auto service = static_cast<Service>(request.number<std::uint32_t>());
  return serve(service, request);
}

// Fetches the batches in the ring before the host serves a metrics request, so that samples arrive in the order in
// which the child sent them.
void ChildMonitor::keep_order(Service service) {
  if (service == Service::append || service == Service::append_histograms || service == Service::aggregate ||
      service == Service::samples)
    fetch_samples();
}

bool ChildMonitor::serve(Service service, Unpacker& request) {
  keep_order(service);
  switch (service) {
    case Service::log: {
      auto level = request.number<std::int32_t>();
      context_.log(level, request.text());
      return true;
    }
    case Service::samples_waiting:
      fetch_samples();
      return true;
    case Service::run_returned: {
      std::lock_guard lock(mutex_);
      run_result_ = service::CallResult{.status = request.number<koord_status>()};
      run_result_->text = take_text(request);
      changed_.notify_all();
      return true;
    }
    default:
      break;
  }
  fetch_samples();  // the answer must include samples that were sent before the request, as in the agent's process
  Result<ServiceDispatcher::Answer> answer = dispatcher_.serve(service, request);
  if (!answer) {
    end("it sent a " + answer.error().text, Duration::zero());
    return false;
  }
  if (answer->bytes.empty()) return true;
  // Ends a child that does not receive its answer within the patience of send().
  int image = answer->image ? answer->image->fd.get() : -1;
  if (Result<void> sent = process_.services().send(answer->bytes, image); sent) return true;
  if (!process_.wait(kTimeToEnd)) end("it did not take an answer", Duration::zero());
  return false;
}

void ChildMonitor::fetch_samples() {
  std::unique_lock lock(fetching_);
  // Reads at most one full ring, because a child that writes as fast as the host reads must not block this thread.
  for (std::size_t batches = 0; batches < SampleRing::kMaxBatches; ++batches) {
    Result<std::optional<SampleRing::Batch>> batch = process_.samples().pop();
    if (!batch) {
      lock.unlock();
      return end(batch.error().text, Duration::zero());
    }
    if (!*batch) break;
    dispatcher_.append((*batch)->t_ns, (*batch)->points);
  }
  if (std::uint64_t dropped = process_.samples().take_dropped())
    context_.log(KOORD_LOG_WARN, std::to_string(dropped) + " batches of samples found no room and were dropped");
}

void ChildMonitor::read_output() {
  char buffer[4096];
  ssize_t n = ::read(process_.output(), buffer, sizeof buffer);
  if (n == 0) output_open_ = false;  // all write ends are closed, which poll() would report forever
  for (std::string_view rest(buffer, n > 0 ? static_cast<std::size_t>(n) : 0); !rest.empty();) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    output_line_.append(rest.substr(0, std::min(end, kMaxLine - std::min(kMaxLine, output_line_.size()))));
    if (end < rest.size()) log_output_line(std::exchange(output_line_, {}));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void ChildMonitor::log_output_line(std::string_view line) {
  if (!line.empty()) context_.log(KOORD_LOG_INFO, line);
}

void ChildMonitor::end(const std::string& reason, Duration grace) {
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    if (wanted_because_.empty()) wanted_because_ = reason;
    next_step_ = Steady::now() + grace;
  }
  process_.signal(grace > Duration::zero() ? SIGTERM : SIGKILL);
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

// Returns the time until the next step of ending the child, in milliseconds for poll(2); -1 if no step is planned.
int ChildMonitor::until_next_step() {
  std::lock_guard lock(mutex_);
  if (!next_step_) return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(*next_step_ - Steady::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

// Kills a child that has not ended within its grace. Returns false if it was killed before and still has not ended.
bool ChildMonitor::take_next_step(bool& killed) {
  if (std::exchange(killed, true)) return false;
  process_.signal(SIGKILL);
  std::lock_guard lock(mutex_);
  next_step_ = Steady::now() + kEndPatience;
  return true;
}

void ChildMonitor::conclude() {
  std::optional<std::string> how = process_.wait(kEndPatience);  // waits, because the channel closes first
  read_output();
  log_output_line(output_line_);
  std::function<void(const std::string&)> on_end;
  std::string reason;
  {
    std::lock_guard lock(mutex_);
    if (!how) {
      reason = "its process cannot be ended and is left behind, pid " + std::to_string(process_.pid());
    } else {
      reason = wanted_because_.empty() ? "its process ended " + *how : wanted_because_ + "; its process ended " + *how;
    }
    ended_ = reason;
    on_end = std::exchange(on_end_, nullptr);
    changed_.notify_all();
  }
  if (on_end) on_end(reason);
}

std::string ChildMonitor::how_it_ended() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, 2 * kEndPatience, [this] { return ended_.has_value(); });
  return ended_.value_or("its process does not answer");
}

std::optional<service::CallResult> ChildMonitor::await_run() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return run_result_ || ended_; });
  return std::exchange(run_result_, std::nullopt);
}

}  // namespace koord::child
