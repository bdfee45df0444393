// SPDX-License-Identifier: Apache-2.0
// Checkpoint: the state of a Trainer that is kept over restarts, and its text. Each line is a record: the format's
// version, a checksum, then fields separated by blanks. A record that is damaged, of a different version or impossible
// is dropped; the other records are used. Numbers are written in a way that reads back the same value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/predict/model.hpp"
#include "core/predict/score.hpp"
#include "core/predict/subject.hpp"

namespace koord::predict {

inline constexpr int kCheckpointVersion = 1;
inline constexpr std::size_t kMaxCheckpointBytes = 32u << 20;

struct Checkpoint {
  Time saved;
  std::map<Subject, Model> models;
  std::map<std::string, std::vector<Score::Hour>, std::less<>> scores;
};

std::string write_checkpoint(const Checkpoint& checkpoint);
// Returns these fields as a line with version and checksum.
std::string sealed_record(std::string_view fields);

struct ReadCheckpoint {
  Checkpoint checkpoint;              // `saved`: the latest of all records
  std::vector<std::string> problems;  // "line 3: its checksum is wrong"; the first ten, then the number of all others
};
// `half_lives`: the half-lives to use from now on.
ReadCheckpoint read_checkpoint(std::string_view text, const HalfLives& half_lives);

}  // namespace koord::predict
