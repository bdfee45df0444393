// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/looked_at.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-interference/requests.hpp"

using namespace koord;
using namespace koord::interference;

namespace {

std::string name_of_device(std::uint32_t device) { return "vd" + std::string(1, static_cast<char>('a' + device)); }

koord_resource requested(const char* name, std::int64_t amount) {
  return {sizeof(koord_resource), 0, plugin::str(name), amount, KOORD_ABSENT};
}

}  // namespace

TEST_CASE("the finding on each resource is a short text") {
  CHECK(looked_at_cpu(0.003) == "held up for > 1 ms during 0.3 % of the time");
  CHECK(looked_at_cpu(0) == "held up for > 1 ms during 0 % of the time");

  analysis::IoWindow io;
  CHECK(looked_at(io, name_of_device) == "no requests");
  analysis::IoStream reads, writes;
  reads.requests = 100;
  reads.mean = 0.0004;
  analysis::IoPart part;
  part.seconds = 0.0012;
  reads.others = {part};
  writes = {};
  writes.device = 1;
  writes.is_write = true;
  writes.requests = 2;
  writes.mean = 0.0003;
  io.streams = {writes, reads};
  CHECK(looked_at(io, name_of_device) == "vda 0.4 ms for a read, 3.0 % by others");

  analysis::MemoryWindow memory;
  CHECK(looked_at(memory) == "0 refaults/s");
  memory.refaults = 31;
  memory.read_time = 0.0001;
  CHECK(looked_at(memory) == "31 refaults/s, 3.1 ms/s for reading them");
}

TEST_CASE("a container requests CPUs and bytes, of its own class or of the class batch or mid") {
  const koord_resource resources[] = {requested("cpu", 250), requested("kubernetes.io/batch-cpu", 1500),
                                      requested("memory", KOORD_ABSENT), requested("kubernetes.io/mid-memory", 4096),
                                      requested("example.com/gpu", 3)};
  koord_container container = {};
  container.resources = resources;
  container.n_resources = 5;
  container.resource_stride = sizeof(koord_resource);
  CHECK(requests_of(container).cpus == 1.5);
  CHECK(requests_of(container).memory_bytes == 4096);
  container.n_resources = 0;
  CHECK(std::isnan(requests_of(container).cpus));
  CHECK(std::isnan(requests_of(container).memory_bytes));
}
