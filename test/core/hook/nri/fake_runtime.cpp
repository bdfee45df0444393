// SPDX-License-Identifier: Apache-2.0
#include "fake_runtime.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "core/hook/nri/big_endian.hpp"

namespace koord::test {
using namespace nri;

FakeRuntime::FakeRuntime(event::Loop& loop, std::string path, Script script) : loop_(loop), script_(std::move(script)) {
  ::unlink(path.c_str());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener_.get(), 16) == 0);
  accepting_ = *loop.on_readable(listener_.get(), [this] { accept(); });
}

// A runtime serves one connection of the plugin. This one counts further connections.
void FakeRuntime::accept() {
  ++accepted;
  close();
  connection_ = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  next_call_ = 1;
  synchronized_ = 0;
  configure_call_ = synchronize_call_ = 0;
  answered_.clear();
  unread_.clear();
  calls_ = std::make_unique<MessageReader>([this](const Message& message) -> Result<void> {
    on_call(message);
    return {};
  });
  answers_ = std::make_unique<MessageReader>([this](const Message& message) -> Result<void> {
    on_answer(message);
    return {};
  });
  streams_ = std::make_unique<Demultiplexer>();
  streams_->open(kPluginStream, [this](std::string_view bytes) { return answers_->take(bytes); });
  streams_->open(kRuntimeStream, [this](std::string_view bytes) { return calls_->take(bytes); });
  reading_ = *loop_.on_readable(connection_.get(), [this] { on_readable(); });
}

void FakeRuntime::close() {
  reading_.reset();
  connection_.reset();
}

void FakeRuntime::on_readable() {
  std::array<char, 64 << 10> block;
  const ssize_t n = ::recv(connection_.get(), block.data(), block.size(), 0);
  if (n <= 0) return close();
  const std::string_view bytes(block.data(), static_cast<std::size_t>(n));
  note_frames(bytes);
  REQUIRE(streams_->take(bytes));
}

void FakeRuntime::note_frames(std::string_view bytes) {
  unread_ += bytes;
  while (unread_.size() >= kFrameHeader) {
    const std::size_t size = read_big_endian(unread_.data() + 4);
    if (unread_.size() < kFrameHeader + size) return;
    frame_sizes.push_back(size);
    unread_.erase(0, kFrameHeader + size);
  }
}

void FakeRuntime::send(std::string_view bytes) {
  // The test's messages fit into the socket buffer, or the plugin reads in the meantime.
  const int flags = ::fcntl(connection_.get(), F_GETFL);
  ::fcntl(connection_.get(), F_SETFL, flags & ~O_NONBLOCK);
  const ssize_t sent = ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(bytes.size())) return close();  // the plugin has closed
  ::fcntl(connection_.get(), F_SETFL, flags);
}

std::uint32_t FakeRuntime::call(std::string_view method, std::string payload) {
  return call({.service = "nri.pkg.api.v1alpha1.Plugin",
               .method = std::string(method),
               .payload = std::move(payload),
               .timeout = std::chrono::minutes(10)});
}

std::uint32_t FakeRuntime::call(const Request& request) {
  const std::uint32_t id = std::exchange(next_call_, next_call_ + 2);
  std::string bytes;
  append_message(bytes, kPluginStream, id, MessageType::request, encode(request));
  send(bytes);
  return id;
}

const Response* FakeRuntime::answer_to(std::uint32_t call) const {
  const auto found = answered_.find(call);
  return found == answered_.end() ? nullptr : &found->second;
}

void FakeRuntime::on_call(const Message& message) {
  if (script_.silent) return;
  const Request request = *read_request(message.body);
  Response response;
  if (request.method == "RegisterPlugin") {
    registered.push_back(request.payload);
    if (!script_.refuse.empty())
      response.status = {Code::unknown, script_.refuse};
    else if (script_.configure_first)
      configure();
  } else if (request.method == "UpdateContainers") {
    updates.push_back(request.payload);
    response = update_answer;
  }
  std::string bytes;
  append_message(bytes, kRuntimeStream, message.call, MessageType::response, encode(response));
  send(bytes);
  if (request.method == "RegisterPlugin" && script_.refuse.empty() && !script_.configure_first) configure();
}

void FakeRuntime::configure() { configure_call_ = call("Configure", script_.configure); }

void FakeRuntime::synchronize_next() {
  if (synchronized_ < script_.synchronize.size())
    synchronize_call_ = call("Synchronize", script_.synchronize[synchronized_]);
}

void FakeRuntime::on_answer(const Message& message) {
  const Response response = *read_response(message.body);
  answered_[message.call] = response;
  if (message.call == configure_call_) {
    events.push_back(response.payload);
    synchronize_next();
  } else if (message.call == synchronize_call_) {
    synchronize_answers.push_back(response);
    ++synchronized_;
    synchronize_next();
  }
}

}  // namespace koord::test
