// SPDX-License-Identifier: Apache-2.0
// ListWatch: mirrors the objects of one collection of the API server as long as it exists: a Reflector (reflector.hpp)
// with a Client that sends its requests. While the server is unavailable, the known objects stay and get old: `Health`
// has the time and the reason. Lists are parsed on a worker; all else, callbacks too, on the loop thread.
#pragma once

#include <functional>
#include <memory>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/kube/client.hpp"
#include "core/kube/object_set.hpp"
#include "core/kube/reflector.hpp"

namespace koord::kube {

struct ListWatchOptions {
  Keep keep = {};  // of each object; called on a worker for lists and on the loop thread for single changes
  ObjectSet::Limits limits = {};
  ReflectorOptions reflector = {};
};

// All may be empty. They must not destroy the ListWatch.
struct ListWatchHandlers {
  // Once when it is known for the first time what there is, be it nothing (also because the server does not know the
  // kind); from then on when something differs. Never for what is unchanged.
  std::function<void(const Objects&, const Difference&)> on_objects;
  // State, problem or the objects that are left out have changed.
  std::function<void(const Health&)> on_health;
  // The server has confirmed that the last objects of on_objects are complete; at least once in a minute or two while
  // all is well.
  std::function<void(Time)> on_confirmed;
};

class ListWatch {
 public:
  // Begins at once; nothing is called before this has returned. All that is referred to must outlive it, and the loop
  // the workers.
  ListWatch(event::Loop& loop, event::WorkerPool& workers, const Clock& clock, Client& client, Collection collection,
            ListWatchOptions options, ListWatchHandlers handlers);
  ~ListWatch();
  ListWatch(const ListWatch&) = delete;
  ListWatch& operator=(const ListWatch&) = delete;

  const Health& health() const;
  const Collection& collection() const;
  const Objects& objects() const;  // empty until known; health().last_confirmed says whether it is

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace koord::kube
