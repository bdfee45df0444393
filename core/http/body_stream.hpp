// SPDX-License-Identifier: Apache-2.0
// BodyStream: the body of an answer without a known length, such as a watch. The connection takes one
// piece after the other, each when the last one is sent, and sends it as a chunk. So a peer that reads slowly costs
// one piece. Owner: the response, then the connection. [loop thread]
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace koord::http {

class BodyStream {
 public:
  enum class State : std::uint8_t {
    piece,    // `head` and `body` are the next bytes
    waiting,  // no bytes now; `wake` is called when next() may have some
    ended,    // no more bytes
  };

  struct Piece {
    State state = State::waiting;
    std::string head = {};
    std::shared_ptr<const std::string> body = nullptr;  // follows `head`; perhaps shared with other connections
  };

  BodyStream() = default;
  virtual ~BodyStream() = default;
  BodyStream(const BodyStream&) = delete;
  BodyStream& operator=(const BodyStream&) = delete;

  // `wake` may be called from any thread, also after the end of the connection and of the server. It keeps neither.
  virtual Piece next(const std::function<void()>& wake) = 0;
  // The peer took no whole piece within Limits::write; the connection ends now.
  virtual void on_slow_peer() {}
};

}  // namespace koord::http
