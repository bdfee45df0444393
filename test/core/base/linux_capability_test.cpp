// SPDX-License-Identifier: Apache-2.0
#include "core/base/linux_capability.hpp"

#include <doctest/doctest.h>
#include <linux/capability.h>

using namespace koord;

TEST_CASE("a capability's bit is the kernel's number of it") {
  CHECK(linux_capability("CAP_CHOWN") == CapabilityMask{1} << CAP_CHOWN);
  CHECK(linux_capability("CAP_SYS_ADMIN") == CapabilityMask{1} << CAP_SYS_ADMIN);
  CHECK(linux_capability("CAP_BPF") == CapabilityMask{1} << CAP_BPF);
  CHECK(linux_capability("CAP_CHECKPOINT_RESTORE") == CapabilityMask{1} << CAP_CHECKPOINT_RESTORE);
}

TEST_CASE("a set is written by name and read back, and the empty set is the empty text") {
  for (std::string text : {"", "CAP_BPF", "CAP_SYS_NICE,CAP_PERFMON"})
    CHECK(format_capabilities(*parse_capabilities(text)) == text);
}

TEST_CASE("a set with an invalid capability is invalid as a whole") {
  for (const char* text : {"BPF", "cap_bpf", ",CAP_BPF", "CAP_BPF,CAP_X", "CAP_BPF CAP_PERFMON"})
    CHECK_FALSE(parse_capabilities(text));
}

TEST_CASE("the effective set of this thread can be emptied and filled again") {
  const Result<CapabilitySets> before = read_capability_sets();
  REQUIRE(before);
  CHECK((before->effective & ~before->permitted) == 0);
  REQUIRE(write_capability_sets({0, before->permitted, before->inheritable}));
  CHECK(read_capability_sets()->effective == 0);
  CHECK(read_capability_sets()->permitted == before->permitted);
  REQUIRE(write_capability_sets(*before));
  CHECK(read_capability_sets()->effective == before->effective);
}
