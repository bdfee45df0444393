// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/proxy.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include "core/criproxy/passing_call.hpp"
#include "core/criproxy/unary_call.hpp"

namespace koord::criproxy {
namespace {

class Service final : public grpc::CallbackGenericService {
 public:
  Service(grpc::GenericStub& runtime, Proxy::HookOf hook_of, CallObserver& observer)
      : runtime_(runtime), hook_of_(std::move(hook_of)), observer_(observer) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return pass_call(*context, runtime_, hook_of_(context->method()), observer_);
  }

 private:
  grpc::GenericStub& runtime_;
  const Proxy::HookOf hook_of_;
  CallObserver& observer_;
};

// Allows any number of pings from the client, because a proxy does not pass pings on.
void accept_pings(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

}  // namespace

struct Proxy::State {
  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;
  Service service;
  std::unique_ptr<grpc::Server> server;

  State(const std::string& runtime_socket, HookOf hook_of, CallObserver& observer)
      : channel(local_channel(runtime_socket)), stub(channel), service(stub, std::move(hook_of), observer) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&service);
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetMaxSendMessageSize(-1);
    accept_pings(builder);
    server = builder.BuildAndStart();
  }
};

Proxy::Proxy(const std::string& runtime_socket, HookOf hook_of, CallObserver& observer)
    : state_(std::make_unique<State>(runtime_socket, std::move(hook_of), observer)) {}

Proxy::~Proxy() { stop(Duration(0)); }

void Proxy::serve(UniqueFd connection) { grpc::AddInsecureChannelFromFd(state_->server.get(), connection.release()); }

bool Proxy::runtime_answers(Duration wait) {
  return state_->channel->WaitForConnected(std::chrono::system_clock::now() +
                                           std::chrono::duration_cast<std::chrono::microseconds>(wait));
}

std::optional<std::string> Proxy::ask_runtime(const std::string& method, const std::string& request, Duration wait) {
  Result<std::string> answer = call_unary(state_->stub, method, request, wait);
  if (!answer) return std::nullopt;
  return *std::move(answer);
}

void Proxy::stop(Duration wait) {
  if (!state_->server) return;
  state_->server->Shutdown(std::chrono::system_clock::now() +
                           std::chrono::duration_cast<std::chrono::microseconds>(wait));
  state_->server->Wait();
  state_->server.reset();
}

}  // namespace koord::criproxy
