// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/plugin_service.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/hook/nri/mux.hpp"

namespace koord::nri {
namespace {

constexpr std::string_view kPluginService = "nri.pkg.api.v1alpha1.Plugin";

// A Response is longer than its payload by less than 64 bytes.
constexpr std::size_t kMaxPayload = kMaxSentMessage - 64;
constexpr std::size_t kMaxStatusText = 4096;

const std::string& id_of(const EventRequest& request) {
  return request.container.id.empty() ? request.pod.id : request.container.id;
}

template <class T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  if (list.empty())
    list = std::move(more);
  else
    list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool is_event(std::string_view method) {
  const auto stage = stage_of_method(method);
  return method == "StateChange" || (stage && *stage != Stage::synchronize);
}

// Returns the handler's time limit: at most three quarters of the time that the runtime waits.
Duration handler_time(Duration own, Duration runtime_timeout) {
  return runtime_timeout > Duration::zero() ? std::min(own, runtime_timeout / 4 * 3) : own;
}

}  // namespace

PluginService::PluginService(event::Loop& loop, const Clock& clock, const Options& options, Events& events,
                             Status& status, Callbacks callbacks)
    : loop_(loop),
      clock_(clock),
      options_(options),
      events_(events),
      status_(status),
      callbacks_(std::move(callbacks)) {}

void PluginService::end() {
  ended_ = true;
  calls_.clear();
}

Result<void> PluginService::take(const Message& message) {
  if (message.type != MessageType::request) return {};
  if (message.call % 2 == 0 || message.call <= last_call_) {
    ++status_.bad_requests;
    refuse(message.call, Code::invalid_argument, "call ids are odd and grow");
    return {};
  }
  last_call_ = message.call;
  if (message.too_large()) {
    ++status_.bad_requests;
    refuse(message.call, Code::resource_exhausted,
           "message of " + std::to_string(message.size) + " bytes, expected at most " +
               std::to_string(kMaxReceivedMessage));
    return {};
  }
  Result<Request> request = read_request(message.body);
  Result<void> done = request ? dispatch(message.call, *request) : std::move(request).error();
  if (!done) refuse_unreadable(message.call, request && is_event(request->method), done.error());
  return {};
}

// Answers a request that cannot be read. An event is answered without changes, because on an error the runtime fails
// the pod or container.
void PluginService::refuse_unreadable(std::uint32_t call, bool is_event, const Error& why) {
  ++status_.bad_requests;
  status_.last_error = why.message();
  if (is_event) return answer(call, {});
  refuse(call, Code::invalid_argument, why.message());
}

Result<void> PluginService::dispatch(std::uint32_t call, const Request& request) {
  const std::string& method = request.method;
  if (request.service == kPluginService) {
    if (method == "Configure") return configure(call, request);
    if (method == "Synchronize") return synchronize(call, request);
    if (method == "StateChange")
      return event(call, request.timeout, TRY(read_state_change(request.payload, options_.keep_annotation)));
    if (method == "Shutdown") {
      answer(call, {});
      return {};
    }
    if (const auto stage = stage_of_method(method))
      return event(call, request.timeout, TRY(read_event(*stage, request.payload, options_.keep_annotation)));
  }
  ++status_.unimplemented;
  refuse(call, Code::unimplemented, request.service + "/" + method + " is unknown");
  return {};
}

Result<void> PluginService::configure(std::uint32_t call, const Request& request) {
  ConfigureRequest configuration = TRY(read_configure(request.payload));
  status_.runtime = std::move(configuration.runtime);
  request_timeout_ = configuration.request_timeout;
  answer(call, {.payload = encode_configure_answer(options_.events & events_of(status_.runtime))});
  callbacks_.on_configured();
  return {};
}

Result<void> PluginService::accumulate(SynchronizeRequest part) {
  if (parts_.pods.size() + part.pods.size() > kMostPods)
    return invalid("Synchronize has more than " + std::to_string(kMostPods) + " pods");
  if (parts_.containers.size() + part.containers.size() > kMostContainers)
    return invalid("Synchronize has more than " + std::to_string(kMostContainers) + " containers");
  append(parts_.pods, std::move(part.pods));
  append(parts_.containers, std::move(part.containers));
  return {};
}

Result<void> PluginService::synchronize(std::uint32_t call, const Request& request) {
  const Time begun = clock_.now();
  SynchronizeRequest part = TRY(read_synchronize(request.payload, options_.keep_annotation));
  const bool more = part.more;
  TRY(accumulate(std::move(part)));
  if (more) {
    answer(call, {.payload = encode_more()});
    return {};
  }
  begin(call, Stage::synchronize, {}, request.timeout);
  calls_.at(call).begin = begun;
  SynchronizeRequest all = std::exchange(parts_, {});
  events_.synchronize(std::move(all.pods), std::move(all.containers), done<UpdateAnswer>(call, Stage::synchronize, {}));
  return {};
}

Result<void> PluginService::event(std::uint32_t call, Duration timeout, const EventRequest& request) {
  const Stage stage = request.stage;
  const std::string& id = id_of(request);
  begin(call, stage, id, timeout);
  switch (stage) {
    case Stage::run_pod_sandbox:
      events_.run_pod_sandbox(request.pod, done<PodAnswer>(call, stage, id));
      break;
    case Stage::create_container:
      events_.create_container(request.pod, request.container, done<CreateAnswer>(call, stage, id));
      break;
    case Stage::update_container:
      events_.update_container(request.pod, request.container, request.resources, done<UpdateAnswer>(call, stage, id));
      break;
    case Stage::stop_container:
      events_.stop_container(request.pod, request.container, done<UpdateAnswer>(call, stage, id));
      break;
    default:
      events_.notify(stage, request.pod, request.container);
      finish(call, stage, id, {});
  }
  return {};
}

void PluginService::begin(std::uint32_t call, Stage stage, std::string id, Duration runtime_timeout) {
  ++status_.of(stage).calls;
  if (runtime_timeout == Duration::zero()) runtime_timeout = request_timeout_;
  const Duration own = stage == Stage::synchronize ? options_.synchronize_deadline : options_.deadline;
  calls_[call] = {
      .stage = stage,
      .id = std::move(id),
      .begin = clock_.now(),
      .runtime_timeout = runtime_timeout,
      .deadline = loop_.after(handler_time(own, runtime_timeout), [this, call] { answer_no_change(call); })};
}

// Returns the function that answers a call. It posts the answer to the loop, even an immediate one, so no handler runs
// within its own answer.
template <class Answer>
Done<Answer> PluginService::done(std::uint32_t call, Stage stage, std::string id) {
  return [weak = weak_from_this(), &loop = loop_, call, stage, id = std::move(id)](Answer answer) {
    loop.post([weak, call, stage, id, answer = std::move(answer)] {
      if (const auto self = weak.lock()) self->finish(call, stage, id, outcome_of(answer));
    });
  };
}

PluginService::Outcome PluginService::outcome_of(const PodAnswer& answer) { return {.refusal = answer.refusal}; }

PluginService::Outcome PluginService::outcome_of(const CreateAnswer& answer) {
  return {.refusal = answer.refusal, .payload = encode_adjustment(answer.adjustment, answer.updates)};
}

PluginService::Outcome PluginService::outcome_of(const UpdateAnswer& answer) {
  return {.refusal = answer.refusal, .payload = encode_updates(answer.updates)};
}

void PluginService::finish(std::uint32_t call, Stage stage, const std::string& id, Outcome outcome) {
  if (ended_) return;
  StageCounters& counters = status_.of(stage);
  if (!calls_.contains(call)) {
    ++counters.late;
    events_.late(stage, id);
    return;
  }
  if (outcome.refusal && stage != Stage::synchronize && stage != Stage::stop_container) {
    ++counters.refused;
    return answer_finished(call, {.status = {.code = Code::unknown, .message = std::move(outcome.refusal->reason)}});
  }
  if (!outcome.payload || outcome.payload->size() > kMaxPayload) {
    ++counters.invalid;
    return answer_finished(call, {});
  }
  answer_finished(call, {.payload = *std::move(outcome.payload)});
}

void PluginService::answer_no_change(std::uint32_t call) {
  ++status_.of(calls_.at(call).stage).timed_out;
  answer_finished(call, {});
}

// Sends the answer. If Synchronize takes too long, an older runtime keeps the plugin connected but sends it no events.
void PluginService::answer_finished(std::uint32_t call, Response response) {
  const Call finished = std::move(calls_.extract(call).mapped());
  const Duration taken = clock_.now() - finished.begin;
  status_.of(finished.stage).latency.add(taken);
  answer(call, std::move(response));
  if (finished.stage != Stage::synchronize) return;
  if (finished.runtime_timeout > Duration::zero() && taken > finished.runtime_timeout)
    return callbacks_.on_failure(system_error(ETIMEDOUT, "Synchronize was answered too late"));
  callbacks_.on_synchronized();
}

void PluginService::answer(std::uint32_t call, Response response) {
  replace_invalid_utf8(response.status.message);
  cut_utf8(response.status.message, kMaxStatusText);
  std::string bytes;
  append_message(bytes, kPluginStream, call, MessageType::response, encode(response));
  callbacks_.send(bytes);
}

void PluginService::refuse(std::uint32_t call, Code code, std::string message) {
  answer(call, {.status = {.code = code, .message = std::move(message)}});
}

}  // namespace koord::nri
