// SPDX-License-Identifier: Apache-2.0
// Messages of an untrusted child: requests, its description of itself, and samples, as arbitrary bytes. An input is a
// series of requests, each with a length in two bytes and as many bytes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/child/call_server.hpp"
#include "core/child/service_dispatcher.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace {

using namespace koord;

struct Host {
  test::FakeNode node;
  test::FakeHost host{node};
  child::SnapshotImages images;
  child::ServiceDispatcher dispatcher{host.context(), images};

  Host() {
    state::Pod pod;
    pod.uid = "1";
    host.hub().publish({.pods = std::vector{pod}});
  }
};

// Makes a new dispatcher after some inputs, because the definitions of a child stay.
child::ServiceDispatcher& dispatcher() {
  constexpr int kInputs = 2000;
  static std::unique_ptr<Host> host;
  static int inputs = 0;
  if (inputs++ % kInputs == 0) host = std::make_unique<Host>();
  return host->dispatcher;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  child::Unpacker description(rest);
  (void)child::unpack_classes(description).has_value();
  child::ServiceDispatcher& asked = dispatcher();
  while (rest.size() > 2) {
    std::size_t length = static_cast<unsigned char>(rest[0]) + 256u * static_cast<unsigned char>(rest[1]);
    std::string_view message = rest.substr(2, length);
    rest.remove_prefix(2 + message.size());
    child::Unpacker request(message);
    auto service = static_cast<child::Service>(request.number<std::uint32_t>());
    (void)asked.serve(service, request).has_value();
  }
  return 0;
}
