// SPDX-License-Identifier: Apache-2.0
// The bytes that a runtime sends on an NRI socket: frames, messages, requests and answers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/manual_clock.hpp"
#include "core/hook/nri/session.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::nri;

namespace {

// The other end of the connection. Checks that the plugin sends valid messages.
struct FarEnd {
  FarEnd() {
    for (const std::uint32_t id : {kPluginStream, kRuntimeStream})
      streams.open(id,
                   [this, id](std::string_view bytes) { return (id == kPluginStream ? answers : calls).take(bytes); });
  }

  MessageReader answers{[](const Message& message) -> Result<void> {
    check(message.type == MessageType::response && read_response(message.body));
    return {};
  }};
  MessageReader calls{[](const Message& message) -> Result<void> {
    check(message.type == MessageType::request && read_request(message.body));
    return {};
  }};
  Demultiplexer streams;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  event::Loop loop;
  ManualClock clock;
  const Options options;
  Events events;
  Status status;
  FarEnd runtime;
  Session session(loop, clock, options, events, status,
                  {.send = [&](std::string_view bytes) { check(bool(runtime.streams.take(bytes))); },
                   .on_active = [] {},
                   .on_failure = [](Error) {}});
  session.start();
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kPiece = 100;
  bool good = true;
  for (; good && !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size())))
    good = session.take(bytes.substr(0, kPiece)).has_value();
  loop.post([&] { loop.stop(); });
  loop.run();  // runs the handlers' answers
  session.end(invalid("end of the input"));
  return 0;
}
