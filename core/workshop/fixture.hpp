// SPDX-License-Identifier: Apache-2.0
// Fixture: a node as it was for a few seconds: the files of its proc, sys and cgroup trees, frame by frame, and the
// state of the cluster. A tar file, compressed or not, that a person can unpack and read:
//
//   fixture.json          {"format": "koord-fixture/1", "node": NAME, "startNs": N, "framesNs": [0, 1000000000, …]}
//   pods.json node.json node_slo.json   the state, where it was given; as koordetector's file source reads them
//   frames/0/proc/stat    all files of the first frame, links as links, empty directories as such
//   frames/1/proc/stat    what differs from the frame before
//   frames/1.gone         paths that are there no more, one a line
//
// Values, without a lock: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/workshop/node_state.hpp"

namespace koord::workshop {

class NodeTree;

// Content of a path: a file's text, a link's target, or an empty directory.
struct TreeEntry {
  enum class Type : std::uint8_t { file, link, directory };
  Type type = Type::file;
  std::string content;

  bool operator==(const TreeEntry&) const = default;
};
// By path relative to the node: "proc/stat", "cgroup/cpu/kubepods/…".
using Tree = std::map<std::string, TreeEntry, std::less<>>;

struct Frame {
  Duration at{};  // since the first
  Tree changed;
  std::vector<std::string> gone;
};
// From one whole tree to the next.
Frame difference(Duration at, const Tree& before, const Tree& after);

struct Fixture {
  std::string node_name;
  std::int64_t start_ns = 0;  // host time of the first frame, and wall time
  StateTexts state;
  std::vector<Frame> frames;  // at least one
};

// Limits of what is read.
inline constexpr std::size_t kMaxFixtureBytes = 256u << 20;
inline constexpr std::size_t kMaxFixtureEntries = 500'000;

// `text` is the tar file. Any bytes are safe to read; an error names the entry and what was wanted.
Result<Fixture> parse_fixture(std::string_view text);
Result<Fixture> read_fixture(const std::string& path);

// Compressed as the name's ending asks: .tar, .tar.gz or .tgz. The file is there whole or not at all.
Result<void> write_fixture(const Fixture& fixture, const std::string& path);

// Changed files are written in place, so that a reader with an open descriptor reads the new content.
void apply(const Frame& frame, NodeTree& node);

}  // namespace koord::workshop
