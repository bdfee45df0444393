// SPDX-License-Identifier: Apache-2.0
// Merges the answer of a hook into a CRI request. The first byte selects the kind of the answer, the second is its
// length. The answer and the request follow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/criproxy/agent_question.hpp"
#include "core/criproxy/cri.pb.h"
#include "core/criproxy/hook_message.hpp"
#include "core/criproxy/merge.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::criproxy;

namespace {

wire::Checkpoint about_of(const wire::CreateContainerRequest& request) {
  wire::Checkpoint about;
  *about.mutable_pod() = request.sandbox_config();
  *about.mutable_container() = request.config().metadata();
  *about.mutable_envs() = request.config().envs();
  *about.mutable_resources() = request.config().linux_part().resources();
  return about;
}

koord::Result<Changes> changes_in(unsigned kind, const wire::Checkpoint& about, const std::string& answer) {
  if (kind == 1) return read_hook_response("PreCreateContainer", about, answer);
  if (kind == 2) return read_hook_response("PreRunPodSandbox", about, answer);
  auto read = read_agent_answer(answer);
  if (!read) return std::move(read).error();
  return std::move(read->changes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string rest(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string answer = rest.substr(0, data[1]);
  const std::string bytes = rest.substr(std::min<std::size_t>(data[1], rest.size()));
  (void)read_hook_server("x.json", answer);
  wire::CreateContainerRequest request;
  if (!request.ParseFromString(bytes)) return 0;
  const wire::Checkpoint about = about_of(request);
  check(!agent_request("PreCreateContainer", about).empty());
  const auto changes = changes_in(data[0] % 3, about, answer);
  if (!changes) return 0;
  const int envs = request.config().envs_size();
  merge(*changes, *request.mutable_config());
  merge(*changes, *request.mutable_sandbox_config());
  check(request.config().envs_size() >= envs);  // no variable is lost
  wire::CreateContainerRequest again;
  check(again.ParseFromString(request.SerializeAsString()));
  return 0;
}
