// SPDX-License-Identifier: Apache-2.0
// PluginService: answers the calls of the runtime on one connection, with the help of Events. A call that the handler
// has not answered at its deadline gets "no change". Made by make_shared: answers that come later hold a weak pointer.
// [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/hook/nri/events.hpp"
#include "core/hook/nri/options.hpp"
#include "core/hook/nri/status.hpp"
#include "core/hook/nri/ttrpc.hpp"
#include "core/hook/nri/wire.hpp"

namespace koord::nri {

class PluginService : public std::enable_shared_from_this<PluginService> {
 public:
  struct Callbacks {
    std::function<void(std::string_view bytes)> send;
    std::function<void()> on_configured;
    // The last part of Synchronize is answered: the runtime sends events from now on.
    std::function<void()> on_synchronized;
    // The connection is useless.
    std::function<void(Error)> on_failure;
  };

  PluginService(event::Loop& loop, const Clock& clock, const Options& options, Events& events, Status& status,
                Callbacks callbacks);

  // A message of the runtime on this stream.
  Result<void> take(const Message& message);

  // Nothing is sent or reported any more.
  void end();

 private:
  // A call that is not answered yet.
  struct Call {
    Stage stage;
    std::string id;  // of the container or pod
    Time begin;
    Duration runtime_timeout;  // zero: unknown
    std::unique_ptr<event::Timer> deadline;
  };
  // The answer of a handler, encoded.
  struct Outcome {
    std::optional<Refusal> refusal = std::nullopt;
    Result<std::string> payload = std::string();
  };

  Result<void> dispatch(std::uint32_t call, const Request& request);
  Result<void> configure(std::uint32_t call, const Request& request);
  Result<void> synchronize(std::uint32_t call, const Request& request);
  Result<void> event(std::uint32_t call, Duration timeout, const EventRequest& request);
  Result<void> accumulate(SynchronizeRequest part);

  void begin(std::uint32_t call, Stage stage, std::string id, Duration runtime_timeout);
  // Returns the function with which the handler answers the call.
  template <class Answer>
  Done<Answer> done(std::uint32_t call, Stage stage, std::string id);
  void finish(std::uint32_t call, Stage stage, const std::string& id, Outcome outcome);
  void answer_no_change(std::uint32_t call);
  void answer_finished(std::uint32_t call, Response response);

  void answer(std::uint32_t call, Response response);
  void refuse(std::uint32_t call, Code code, std::string message);
  void refuse_unreadable(std::uint32_t call, bool is_event, const Error& why);

  static Outcome outcome_of(const PodAnswer& answer);
  static Outcome outcome_of(const CreateAnswer& answer);
  static Outcome outcome_of(const UpdateAnswer& answer);

  event::Loop& loop_;
  const Clock& clock_;
  const Options& options_;
  Events& events_;
  Status& status_;
  const Callbacks callbacks_;
  bool ended_ = false;
  std::uint32_t last_call_ = 0;
  Duration request_timeout_ = Duration::zero();  // of the runtime; zero: unknown
  std::map<std::uint32_t, Call> calls_;
  SynchronizeRequest parts_;  // of Synchronize
};

}  // namespace koord::nri
