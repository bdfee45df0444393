// SPDX-License-Identifier: Apache-2.0
// The content of a file when it is opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/store/catalogue.hpp"
#include "core/store/chunk_index.hpp"
#include "core/store/key_values.hpp"

namespace koord::store {

struct Loaded {
  std::int64_t file_id = 0;
  std::unique_ptr<Catalogue> catalogue = std::make_unique<Catalogue>();
  ChunkIndex chunks;
  std::vector<std::pair<std::string, KeyValue>> values;
  std::string report;
};

}  // namespace koord::store
