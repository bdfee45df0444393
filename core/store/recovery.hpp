// SPDX-License-Identifier: Apache-2.0
// After a kill the last minutes stand only in the journal. Recovery seals them into chunks, so that they need no
// special treatment afterwards, whether their series come back or not.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/sqlite/connection.hpp"
#include "core/store/catalogue.hpp"
#include "core/store/sealed_chunk.hpp"

namespace koord::store {

// Chunks of all that is in the journal and in no chunk.
Result<std::vector<SealedChunkPtr>> chunks_of_journal(sqlite::Connection& connection, const Catalogue& catalogue);

}  // namespace koord::store
