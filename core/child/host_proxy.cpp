// SPDX-License-Identifier: Apache-2.0
#include "core/child/host_proxy.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace koord::child {
namespace {

// Each process has only one plugin, so one error per thread is enough.
thread_local std::optional<service::ReportedError> last_error;

// Ends this process, because the host has ended or has closed this child's channel.
[[noreturn]] void end_with_the_host() { ::_exit(0); }

std::string_view cut(koord_str text, std::uint64_t limit) {
  return text.p ? std::string_view(text.p, std::min(text.n, limit)) : std::string_view();
}

HostProxy& remote(const koord_host* host) { return *static_cast<HostProxy*>(host->impl); }

const void* get_service(const koord_host* host, const char* id) {
  if (!host || !host->impl || !id) return nullptr;
  return remote(host).is_granted(id) ? find_remote_service(id) : nullptr;
}

void log_line(const koord_host* host, std::int32_t level, koord_str message) {
  if (!host || !host->impl) return;
  remote(host).log(level, cut(message, service::kMaxLogBytes));
}

void set_error(const koord_host* host, koord_status status, koord_str why) {
  if (host && host->impl) remote(host).fail(status, cut(why, service::kMaxErrorBytes));
}

}  // namespace

HostProxy::HostProxy(std::string plugin_id, Channel services, SampleRing samples)
    : id_(std::move(plugin_id)),
      host_{sizeof(koord_host), KOORD_ABI_MAJOR, KOORD_ABI_MINOR, this, get_service, log_line, set_error},
      services_(std::move(services)),
      samples_(std::move(samples)) {}

std::optional<service::ReportedError> HostProxy::take_error() { return std::exchange(last_error, std::nullopt); }

koord_status HostProxy::fail(koord_status status, std::string_view why) {
  last_error = service::ReportedError{status, std::string(why)};
  return status;
}

koord_status HostProxy::returned(const Answer& answer) {
  return answer.text.empty() ? answer.status : fail(answer.status, answer.text);
}

void HostProxy::log(std::int32_t level, std::string_view message) {
  send(Packer().add(static_cast<std::uint32_t>(Service::log)).add(level).add(message));
}

void HostProxy::send(const Packer& message) {
  std::lock_guard lock(asking_);
  if (!services_.send(message.bytes(), -1, kForEver)) end_with_the_host();
}

Message HostProxy::exchange(const Packer& request) {
  std::lock_guard lock(asking_);
  if (!services_.send(request.bytes(), -1, kForEver)) end_with_the_host();
  Result<std::optional<Message>> answer = services_.receive(kForEver);
  if (!answer || !*answer) end_with_the_host();
  return std::move(**answer);
}

Answer HostProxy::ask(const Packer& request) {
  Answer answer;
  if (request.bytes().size() > Channel::kMaxFromChild) {
    answer.status = KOORD_E_INVALID;
    answer.text = "the arguments have " + std::to_string(request.bytes().size()) + " bytes, expected at most " +
                  std::to_string(Channel::kMaxFromChild);
    return answer;
  }
  answer.message = std::make_unique<Message>(exchange(request));
  answer.rest = Unpacker(answer.message->bytes);
  answer.status = answer.rest.number<koord_status>();
  answer.text = answer.rest.text();
  return answer;
}

// Returns whether the host accepts samples of this time. Asks the host only for a time after the latest accepted one,
// about once a minute.
bool HostProxy::is_time_good(std::uint64_t t_ns) {
  if (t_ns <= latest_good_ns_) return true;
  Answer answer = ask(Packer().add(static_cast<std::uint32_t>(Service::append_until)));
  if (answer.ok()) latest_good_ns_ = answer.rest.number<std::uint64_t>();
  return t_ns <= latest_good_ns_;
}

// Pushes points into the ring only if the host will accept them. Any other batch is sent as a request, which the host
// checks before this function returns, as it does in its own process.
koord_status HostProxy::append(std::uint64_t t_ns, std::vector<koord_point> points) {
  if (points.size() > SampleRing::kMaxPoints || !values_.fit(points) || !is_time_good(t_ns)) {
    Packer request;
    request.add(static_cast<std::uint32_t>(Service::append)).add(t_ns).add(static_cast<std::uint32_t>(points.size()));
    for (const koord_point& point : points) request.add(point.series).add(point.value);
    return returned(ask(request));
  }
  if (!samples_.push(t_ns, points)) return fail(KOORD_E_AGAIN, "the host does not keep up, the batch is dropped");
  if (in_call_) return KOORD_OK;
  send(Packer().add(static_cast<std::uint32_t>(Service::samples_waiting)));
  return KOORD_OK;
}

koord_status HostProxy::acquire(const koord_snapshot** snapshot) {
  std::lock_guard lock(snapshots_);
  Answer answer = ask(Packer().add(static_cast<std::uint32_t>(Service::acquire)).add(newest_serial_));
  if (!answer.ok()) return returned(answer);
  auto serial = answer.rest.number<std::uint64_t>();
  if (answer.message->fd) {
    Result<Image> image = Image::open(std::move(answer.message->fd));
    if (!image) return fail(KOORD_E_IO, image.error().message());
    newest_ = std::make_shared<const Image>(*std::move(image));
    newest_serial_ = serial;
  }
  *snapshot = reinterpret_cast<const koord_snapshot*>(&newest_->root());
  Held& held = held_[*snapshot];
  held.image = newest_;
  ++held.count;
  return KOORD_OK;
}

bool HostProxy::release(const koord_snapshot* snapshot) {
  std::lock_guard lock(snapshots_);
  auto held = held_.find(snapshot);
  if (held == held_.end()) return false;
  if (--held->second.count == 0) held_.erase(held);
  return true;
}

}  // namespace koord::child
