// SPDX-License-Identifier: Apache-2.0
// Containers in this kernel's cgroups, with processes of the test.
#include "core/evict/container_kill.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;

namespace {

cgroup::Layout this_node() { return *cgroup::Layout::detect({}); }

// Starts a process in the cgroup that sleeps and ignores all signals except SIGKILL.
pid_t start_in(const RealCgroup& cgroup) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  }
  cgroup.add_process(pid);
  return pid;
}

// Returns the signal that ended the process; 0 if no signal ended it.
int signal_of(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

state::Container container(const RealCgroup& cgroup, state::ContainerKind kind,
                           state::ContainerState state = state::ContainerState::running) {
  state::Container container;
  container.name = cgroup.dir();
  container.kind = kind;
  container.state = state;
  container.cgroup_dir = cgroup.dir();
  return container;
}

}  // namespace

TEST_CASE("all processes of a container end, those of cgroups that it has made too") {
  const RealCgroup cgroup("kill"), below(cgroup, "below");
  const pid_t one = start_in(cgroup), two = start_in(cgroup), three = start_in(below);
  const Result<void> done = kill_cgroup(this_node(), cgroup.dir());
  CHECK_MESSAGE(done, done.error().message());
  for (pid_t pid : {one, two, three}) CHECK(signal_of(pid) == SIGKILL);
  CHECK(kill_cgroup(this_node(), cgroup.dir()));  // no process is left in it
}

TEST_CASE("the running containers of a pod are killed, its sandbox is not") {
  const RealCgroup app("kill-app"), sidecar("kill-sidecar"), sandbox("kill-sandbox"), waiting("kill-waiting");
  const pid_t in_app = start_in(app), in_sidecar = start_in(sidecar), in_sandbox = start_in(sandbox),
              in_waiting = start_in(waiting);
  state::Pod pod;
  pod.containers = {container(waiting, state::ContainerKind::regular, state::ContainerState::waiting),
                    container(app, state::ContainerKind::regular), container(sidecar, state::ContainerKind::sidecar),
                    container(sandbox, state::ContainerKind::sandbox)};
  CHECK(kill_containers(this_node(), pod));
  CHECK(signal_of(in_app) == SIGKILL);
  CHECK(signal_of(in_sidecar) == SIGKILL);
  for (pid_t pid : {in_sandbox, in_waiting}) {
    CHECK(::waitpid(pid, nullptr, WNOHANG) == 0);
    ::kill(pid, SIGKILL);
    CHECK(signal_of(pid) == SIGKILL);
  }
}

TEST_CASE("a cgroup that is not a container's is not killed") {
  for (const char* wrong : {"", "..", "a/../..", "/"}) CHECK_FALSE(kill_cgroup(this_node(), wrong));
  CHECK(kill_cgroup(this_node(), "koord-test-nowhere"));  // it has already ended
  CHECK(kill_containers(this_node(), {}).error().message().find("no running container") != std::string::npos);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
