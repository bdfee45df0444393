// SPDX-License-Identifier: Apache-2.0
// Calls of our own to servers on unix sockets: bytes in, bytes out. [any thread, may block]
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::criproxy {

// Connects when it is used, and again at most a quarter of a second after the server is back. Messages have any size.
std::shared_ptr<grpc::Channel> local_channel(const std::string& socket);

// `method`: with the service in front, "/runtime.v1.RuntimeService/Version". Fails with the server's text.
Result<std::string> call_unary(grpc::GenericStub& stub, const std::string& method, const std::string& request,
                               Duration wait);

}  // namespace koord::criproxy
