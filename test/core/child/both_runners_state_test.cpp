// SPDX-License-Identifier: Apache-2.0
// koord.state/1 with good and bad arguments, in both runners.
#include "test/core/child/both_runners.hpp"

using namespace koord;
using namespace koord::test;

namespace {

const Row kRows[] = {
    {"acquire NULL", [](const Side& s) { return s.state().acquire(s.host, nullptr); }, KOORD_E_INVALID},
    {"subscribe to unknown parts", [](const Side& s) { return s.state().subscribe(s.host, 1u << 30); }, KOORD_E_UNSUPPORTED},
    {"subscribe", [](const Side& s) { return s.state().subscribe(s.host, KOORD_ON_PODS); }, KOORD_OK},

    {"processes of nothing", [](const Side& s) { std::uint32_t n; return s.state().processes(s.host, KOORD_NO_SUBJECT, nullptr, 0, &n); }, KOORD_E_INVALID},
    {"processes of an unknown subject", [](const Side& s) { std::uint32_t n; return s.state().processes(s.host, 4711, nullptr, 0, &n); }, KOORD_E_GONE},
    {"processes without need", [](const Side& s) { return s.state().processes(s.host, 4711, nullptr, 0, nullptr); }, KOORD_E_INVALID},
};

}  // namespace

TEST_CASE("koord.state/1 gives a plugin in the agent and one in a child the same status and text") {
  check_in_both_runners(kRows);
}
