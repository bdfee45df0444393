// SPDX-License-Identifier: Apache-2.0
#include "core/child/remote_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace koord::child {
namespace {

constexpr std::uint64_t kMaxLogBytes = 4096, kMaxErrorBytes = 1024;

// One plugin a process, hence one for each thread.
thread_local std::optional<host::ReportedError> last_error;

// The host has ended, or has given this child up.
[[noreturn]] void end_with_the_host() { ::_exit(0); }

std::string_view cut(koord_str text, std::uint64_t limit) {
  return text.p ? std::string_view(text.p, std::min(text.n, limit)) : std::string_view();
}

RemoteHost& remote(const koord_host* host) { return *static_cast<RemoteHost*>(host->impl); }

const void* get_service(const koord_host* host, const char* id) {
  if (!host || !host->impl || !id) return nullptr;
  return remote(host).is_granted(id) ? find_remote_service(id) : nullptr;
}

void log_line(const koord_host* host, std::int32_t level, koord_str message) {
  if (!host || !host->impl) return;
  Packer line;
  line.add(static_cast<std::uint32_t>(Service::log)).add(level).add(cut(message, kMaxLogBytes));
  remote(host).tell(line);
}

void set_error(const koord_host* host, koord_status status, koord_str why) {
  if (host && host->impl) remote(host).fail(status, cut(why, kMaxErrorBytes));
}

}  // namespace

RemoteHost::RemoteHost(std::string plugin_id, Channel services, SampleRing samples)
    : id_(std::move(plugin_id)),
      host_{sizeof(koord_host), KOORD_ABI_MAJOR, KOORD_ABI_MINOR, this, get_service, log_line, set_error},
      services_(std::move(services)),
      samples_(std::move(samples)) {}

std::optional<host::ReportedError> RemoteHost::take_error() { return std::exchange(last_error, std::nullopt); }

koord_status RemoteHost::fail(koord_status status, std::string_view why) {
  last_error = host::ReportedError{status, std::string(why)};
  return status;
}

koord_status RemoteHost::returned(const Answer& answer) {
  return answer.ok() ? KOORD_OK : fail(answer.status, answer.text);
}

void RemoteHost::tell(const Packer& message) {
  std::lock_guard lock(asking_);
  if (!services_.send(message.bytes(), -1, kForEver)) end_with_the_host();
}

Message RemoteHost::exchange(const Packer& request) {
  std::lock_guard lock(asking_);
  if (!services_.send(request.bytes(), -1, kForEver)) end_with_the_host();
  Result<std::optional<Message>> answer = services_.receive(kForEver);
  if (!answer || !*answer) end_with_the_host();
  return std::move(**answer);
}

Answer RemoteHost::ask(const Packer& request) {
  Answer answer;
  answer.message = std::make_unique<Message>(exchange(request));
  answer.rest = Unpacker(answer.message->bytes);
  answer.status = answer.rest.number<koord_status>();
  answer.text = answer.rest.text();
  return answer;
}

koord_status RemoteHost::append(std::uint64_t t_ns, std::vector<koord_point> points) {
  if (points.size() > SampleRing::kMaxPoints) {
    Packer request;
    request.add(static_cast<std::uint32_t>(Service::append)).add(t_ns).add(static_cast<std::uint32_t>(points.size()));
    for (const koord_point& point : points) request.add(point.series).add(point.value);
    return returned(ask(request));
  }
  if (!samples_.push(t_ns, points)) return fail(KOORD_E_AGAIN, "the host does not keep up, the batch is dropped");
  if (in_call_) return KOORD_OK;
  tell(Packer().add(static_cast<std::uint32_t>(Service::samples_waiting)));
  return KOORD_OK;
}

koord_status RemoteHost::acquire(const koord_snapshot** snapshot) {
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

void RemoteHost::release(const koord_snapshot* snapshot) {
  std::lock_guard lock(snapshots_);
  auto held = held_.find(snapshot);
  if (held != held_.end() && --held->second.count == 0) held_.erase(held);
}

}  // namespace koord::child
