// SPDX-License-Identifier: Apache-2.0
// FakeRuntime: the runtime's side of an NRI socket, on the test's loop. It registers plugins as a runtime does, and
// sends the test's messages. The messages are made from the protocol's definition; they are not recorded. [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "core/event/loop.hpp"
#include "core/hook/nri/mux.hpp"
#include "core/hook/nri/ttrpc.hpp"

namespace koord::test {

class FakeRuntime {
 public:
  struct Script {
    std::string configure;                 // a ConfigureRequest
    std::vector<std::string> synchronize;  // SynchronizeRequests, sent one after the other
    bool configure_first = true;           // sent before the answer to RegisterPlugin
    bool silent = false;                   // accepts connections and never answers
    std::string refuse = {};               // the error that answers RegisterPlugin
  };

  // Removes a stale socket, as runtimes do.
  FakeRuntime(event::Loop& loop, std::string path, Script script);

  // Calls the plugin. Returns the id of the call.
  std::uint32_t call(std::string_view method, std::string payload);
  std::uint32_t call(const nri::Request& request);
  void send(std::string_view bytes);
  // Closes the connection to the plugin.
  void close();

  const nri::Response* answer_to(std::uint32_t call) const;
  bool is_synchronized() const { return synchronized_ == script_.synchronize.size() && connected(); }
  bool connected() const { return static_cast<bool>(connection_); }

  std::size_t accepted = 0;
  std::vector<nri::Response> synchronize_answers;
  std::vector<std::string> registered;  // payloads of RegisterPlugin
  std::vector<std::string> events;      // payloads of the answers to Configure
  std::vector<std::string> updates;     // payloads of UpdateContainers
  nri::Response update_answer;
  std::vector<std::size_t> frame_sizes;  // sizes of frames from the plugin

 private:
  void accept();
  void on_readable();
  void note_frames(std::string_view bytes);
  void on_call(const nri::Message& message);
  void on_answer(const nri::Message& message);
  void configure();
  void synchronize_next();

  event::Loop& loop_;
  const Script script_;
  UniqueFd listener_, connection_;
  std::unique_ptr<event::FdWatch> accepting_, reading_;
  std::unique_ptr<nri::Demultiplexer> streams_;
  std::unique_ptr<nri::MessageReader> calls_, answers_;
  std::uint32_t next_call_ = 1;
  std::uint32_t configure_call_ = 0, synchronize_call_ = 0;
  std::size_t synchronized_ = 0;
  std::map<std::uint32_t, nri::Response> answered_;
  std::string unread_;
};

}  // namespace koord::test
