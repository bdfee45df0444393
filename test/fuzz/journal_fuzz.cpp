// SPDX-License-Identifier: Apache-2.0
// A journal of any content, for example after SIGKILL, a disk fault or manual edits. It is read or renamed, its knobs
// are adopted and reverted, and no file outside of the cgroups is written.
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "core/knob/journal_file.hpp"
#include "core/workshop/node_tree.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOurs = "20000 100000\n";

// A folder in memory, so writes do not wait for a disk. Removed with the process.
struct Place {
  Place() {
    check(::mkdtemp(path.data()) != nullptr);
    tree.write("cpu.max", kOurs);  // a file outside of the cgroups
  }
  ~Place() { fs::remove_all(path); }

  // Sets the knobs as after a write of the agent.
  void put_knobs() {
    tree.write("cgroup/be/cpu.max", kOurs);
    tree.write("cgroup/be/memory.high", "4096\n");
  }
  void put_journal(std::string_view content) const {
    fs::remove_all(path + "/qos");
    fs::create_directory(path + "/qos");
    check(write_file_atomically(knob::journal_path(path + "/qos"), content, 0600).has_value());
  }

  std::string path = "/dev/shm/koord-test-journal-XXXXXX";
  workshop::NodeTree tree{{"cgroup/cgroup.controllers", "cpu memory\n"}};
};

// Sets the current inodes in the originals, so the cgroups are recognised as the cgroups of the journal.
void recognise_cgroups(std::vector<knob::Original>& left, const workshop::NodeTree& tree) {
  struct stat about;
  for (knob::Original& one : left)
    if (one.key.cgroup_dir.find('\0') == std::string::npos &&
        ::stat(tree.path("cgroup/" + one.key.cgroup_dir).c_str(), &about) == 0)
      one.cgroup = about.st_ino;
}

void give_back(knob::Journal& journal, const knob::Journal::Found& found, const workshop::NodeTree& tree,
               const Clock& clock) {
  knob::Governor governor(clock, *cgroup::Layout::detect(tree.roots()), tree.roots(), journal);
  const std::size_t unknown = governor.adopt(found.left, std::chrono::seconds(30), true).size();
  check(governor.adopted() + unknown <= found.left.size());
  governor.expire();
  governor.stop();
  check(governor.held() == 0 || !governor.decisions().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  static const ManualClock clock;
  if (size > 1 << 16) return 0;
  place.put_knobs();
  place.put_journal({reinterpret_cast<const char*>(data), size});
  knob::Journal journal({place.path + "/qos", "this boot"}, clock);
  Result<knob::Journal::Found> found = journal.open();
  check(found.has_value() || !found.error().message().empty());
  if (!found) return 0;
  recognise_cgroups(found->left, place.tree);
  give_back(journal, *found, place.tree, clock);
  check(read_file(place.tree.path("cpu.max")).value() == kOurs);
  return 0;
}
