// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/unary_call.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <future>
#include <vector>

namespace koord::criproxy {

std::shared_ptr<grpc::Channel> local_channel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");  // servers in Go refuse the socket's path as authority
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // GRPC_ARG_MIN_RECONNECT_BACKOFF_MS is not set: it is also the time limit of an attempt, and a busy runtime needs
  // time.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 250);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

Result<std::string> call_unary(grpc::GenericStub& stub, const std::string& method, const std::string& request,
                               Duration wait) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(wait));
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, method, {}, &sent, &received,
                 [&ended](grpc::Status status) { ended.set_value(std::move(status)); });
  const grpc::Status status = ended.get_future().get();
  if (!status.ok()) return invalid(status.error_message());
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!received.Dump(&slices).ok()) return invalid("the answer cannot be read");
  for (const grpc::Slice& part : slices) bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  return bytes;
}

}  // namespace koord::criproxy
