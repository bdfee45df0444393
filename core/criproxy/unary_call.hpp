// SPDX-License-Identifier: Apache-2.0
// Calls of this program to servers on unix sockets, with requests and responses as bytes. [any thread, may block]
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::criproxy {

// Returns a channel that connects at its first use, and reconnects within a quarter of a second after the server's
// return. Messages may have any size.
std::shared_ptr<grpc::Channel> local_channel(const std::string& socket);

// Makes a call. `method` includes the service: "/runtime.v1.RuntimeService/Version". Fails with the server's text.
Result<std::string> call_unary(grpc::GenericStub& stub, const std::string& method, const std::string& request,
                               Duration wait);

}  // namespace koord::criproxy
