// SPDX-License-Identifier: Apache-2.0
// PassingCall: one call of a CRI client, passed to the runtime as bytes, for any method and kind of stream. Metadata,
// deadline, cancellation and the status with its details are passed, too. A call with a CallHook is unary, so the hook
// gets its request and its response. The object owns itself and ends with the call. [threads of gRPC]
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "core/criproxy/call_hook.hpp"

namespace koord::criproxy {

// Implements CallbackGenericService::CreateReactor(). `observer` must outlive the server; `hook` may be null.
grpc::ServerGenericBidiReactor* pass_call(grpc::GenericCallbackServerContext& context, grpc::GenericStub& runtime,
                                          std::unique_ptr<CallHook> hook, CallObserver& observer);

}  // namespace koord::criproxy
