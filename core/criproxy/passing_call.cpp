// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/passing_call.hpp"

#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace koord::criproxy {
namespace {

std::string_view view(grpc::string_ref text) { return {text.data(), text.size()}; }

// Returns whether gRPC itself writes this metadata.
bool is_own_metadata(std::string_view key) {
  return key.starts_with(":") || key.starts_with("grpc-") || key == "user-agent" || key == "te" ||
         key == "content-type";
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return {};
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

// One call. This reactor is the side of the server, `runtime_side_` is the side of the runtime. A hold on the runtime's
// side prevents its end while operations may still be started, that is, until its last read has failed. The mutex is
// recursive, because gRPC may call a reaction within the call that starts the operation.
class PassingCall final : public grpc::ServerGenericBidiReactor {
 public:
  PassingCall(grpc::GenericCallbackServerContext& context, grpc::GenericStub& runtime, std::unique_ptr<CallHook> hook,
              CallObserver& observer)
      : context_(context),
        method_(context.method()),
        stub_(runtime),
        hook_(std::move(hook)),
        observer_(observer),
        runtime_side_(*this) {
    observer_.begun();
    runtime_context_.set_deadline(context.raw_deadline());
    for (const auto& [key, value] : context.client_metadata())
      if (!is_own_metadata(view(key))) runtime_context_.AddMetadata(std::string(view(key)), std::string(view(value)));
    if (!hook_) start_runtime_side();
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    const std::unique_lock lock(mutex_);
    if (ok && hook_ && !request_seen_) {
      request_seen_ = true;
      return hook_->before(bytes_of(request_),
                           [this](Result<std::optional<std::string>> request) { send_hooked(std::move(request)); });
    }
    if (!runtime_started_ && !ok && !finished_)
      start_runtime_side();  // a call without a message, which the runtime refuses
    if (!runtime_started_ || runtime_closed_) return;
    if (ok)
      runtime_side_.StartWrite(&request_);
    else
      runtime_side_.StartWritesDone();
  }

  void OnWriteDone(bool ok) override {
    const std::unique_lock lock(mutex_);
    writing_ = false;
    if (!ok) runtime_context_.TryCancel();
    if (final_status_) return finish();
    if (!runtime_closed_) runtime_side_.StartRead(&response_);
  }

  void OnCancel() override { runtime_context_.TryCancel(); }

  void OnDone() override { end_half(); }

 private:
  class RuntimeSide final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit RuntimeSide(PassingCall& call) : call_(call) {}
    void OnReadInitialMetadataDone(bool ok) override { call_.got_metadata(ok); }
    void OnReadDone(bool ok) override { call_.got_response(ok); }
    void OnWriteDone(bool ok) override { call_.sent(ok); }
    void OnDone(const grpc::Status& status) override { call_.got_status(status); }

   private:
    PassingCall& call_;
  };

  void start_runtime_side() {
    runtime_started_ = true;
    halves_ = 2;
    stub_.PrepareBidiStreamingCall(&runtime_context_, method_, {}, &runtime_side_);
    runtime_side_.AddHold();
    runtime_side_.StartRead(&response_);
    runtime_side_.StartCall();
  }

  void send_hooked(Result<std::optional<std::string>> request) {
    const std::unique_lock lock(mutex_);
    if (!request) {
      finished_ = true;
      status_code_ = grpc::StatusCode::FAILED_PRECONDITION;
      Finish({grpc::StatusCode::FAILED_PRECONDITION, request.error().text});
      return;
    }
    if (*request) request_ = buffer_of(**request);
    start_runtime_side();
    if (context_.IsCancelled()) runtime_context_.TryCancel();
    if (!runtime_closed_) runtime_side_.StartWrite(&request_);
  }

  void got_metadata(bool ok) {
    const std::unique_lock lock(mutex_);
    metadata_known_ = true;
    if (ok)
      for (const auto& [key, value] : runtime_context_.GetServerInitialMetadata())
        if (!is_own_metadata(view(key))) context_.AddInitialMetadata(std::string(view(key)), std::string(view(value)));
    if (ok && !response_waits_) StartSendInitialMetadata();  // else it is sent with the response
    if (std::exchange(response_waits_, false)) pass_response();
  }

  void got_response(bool ok) {
    const std::unique_lock lock(mutex_);
    if (!ok) {
      runtime_closed_ = true;
      runtime_side_.RemoveHold();
    } else if (metadata_known_) {
      pass_response();
    } else {
      response_waits_ = true;
    }
  }

  void pass_response() {
    writing_ = true;
    if (!hook_ || std::exchange(response_seen_, true)) return StartWrite(&response_);
    hook_->answered(bytes_of(response_), [this] {
      const std::unique_lock lock(mutex_);
      StartWrite(&response_);
    });
  }

  void sent(bool ok) {
    const std::unique_lock lock(mutex_);
    if (ok) StartRead(&request_);
  }

  void got_status(const grpc::Status& status) {
    {
      const std::unique_lock lock(mutex_);
      for (const auto& [key, value] : runtime_context_.GetServerTrailingMetadata())
        if (!is_own_metadata(view(key))) context_.AddTrailingMetadata(std::string(view(key)), std::string(view(value)));
      final_status_ = status;
      if (!writing_) finish();
    }
    end_half();
  }

  void finish() {
    finished_ = true;
    status_code_ = final_status_->error_code();
    Finish(*final_status_);
  }

  void end_half() {
    {
      const std::unique_lock lock(mutex_);
      if (--halves_ > 0) return;
    }
    if (hook_) hook_->finished(status_code_ == grpc::StatusCode::OK);
    observer_.ended(method_, status_code_);
    delete this;
  }

  grpc::GenericCallbackServerContext& context_;  // destroyed before this object, when the server's side is done
  const std::string method_;
  grpc::GenericStub& stub_;
  const std::unique_ptr<CallHook> hook_;
  CallObserver& observer_;
  grpc::ClientContext runtime_context_;
  RuntimeSide runtime_side_;
  grpc::ByteBuffer request_, response_;

  std::recursive_mutex mutex_;
  int halves_ = 1;
  int status_code_ = grpc::StatusCode::CANCELLED;
  bool runtime_started_ = false, runtime_closed_ = false;
  bool request_seen_ = false, response_seen_ = false;
  bool metadata_known_ = false, response_waits_ = false, writing_ = false, finished_ = false;
  std::optional<grpc::Status> final_status_;
};

}  // namespace

grpc::ServerGenericBidiReactor* pass_call(grpc::GenericCallbackServerContext& context, grpc::GenericStub& runtime,
                                          std::unique_ptr<CallHook> hook, CallObserver& observer) {
  return new PassingCall(context, runtime, std::move(hook), observer);
}

}  // namespace koord::criproxy
