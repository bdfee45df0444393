// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/session.hpp"

#include <utility>

#include "core/hook/nri/wire.hpp"

namespace koord::nri {

Session::Session(event::Loop& loop, const Clock& clock, const Options& options, Events& events, Status& status,
                 Callbacks callbacks)
    : options_(options),
      events_(events),
      status_(status),
      callbacks_(std::move(callbacks)),
      service_(std::make_shared<PluginService>(loop, clock, options, events, status,
                                               PluginService::Callbacks{.send = callbacks_.send,
                                                                        .on_configured = [this] { on_configured(); },
                                                                        .on_synchronized = callbacks_.on_active,
                                                                        .on_failure = callbacks_.on_failure})),
      calls_(loop, callbacks_.send),
      service_messages_([this](const Message& message) { return service_->take(message); }),
      call_messages_([this](const Message& message) { return calls_.take(message); }) {
  streams_.open(kPluginStream, [this](std::string_view bytes) { return service_messages_.take(bytes); });
  streams_.open(kRuntimeStream, [this](std::string_view bytes) { return call_messages_.take(bytes); });
}

Session::~Session() { service_->end(); }

void Session::start() {
  calls_.call("RegisterPlugin", encode_register_plugin(options_.plugin_name, options_.plugin_index),
              options_.registration_timeout, [this](Result<std::string> answer) { on_registered(std::move(answer)); });
}

void Session::on_registered(Result<std::string> answer) {
  if (!answer) callbacks_.on_failure(std::move(answer).error());
}

void Session::on_configured() {
  configured_ = true;
  events_.connected(status_.runtime);
}

Result<void> Session::take(std::string_view bytes) { return streams_.take(bytes); }

Result<void> Session::update_containers(const std::vector<Update>& updates, OnUpdated on_updated) {
  std::string request = TRY(encode_updates(updates));
  status_.updates_sent += updates.size();
  calls_.call("UpdateContainers", std::move(request), options_.call_timeout,
              [this, on_updated = std::move(on_updated), count = updates.size()](Result<std::string> answer) {
                Result<std::vector<std::string>> failed =
                    answer ? read_failed_updates(*answer) : Result<std::vector<std::string>>(std::move(answer).error());
                status_.updates_failed += failed ? failed->size() : count;
                on_updated(std::move(failed));
              });
  return {};
}

void Session::end(const Error& why) {
  service_->end();
  calls_.end(why);
  if (configured_) events_.disconnected(why);
}

}  // namespace koord::nri
