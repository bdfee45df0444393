// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include <errno.h>
#include <poll.h>

// Returns the descriptor that becomes readable first.
static inline int first_readable(int one, int other) {
  struct pollfd both[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
  while (poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  return both[0].revents ? one : other;
}
*/
import "C"

import (
	"context"
	"syscall"
)

// Returns a context that is cancelled when the host's stop descriptor becomes readable. Call end() before the host
// closes the descriptor.
func untilReadable(stop int) (ctx context.Context, end func(), err error) {
	var ended [2]int
	if err := syscall.Pipe2(ended[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if int(C.first_readable(C.int(stop), C.int(ended[0]))) == stop {
			cancel()
		}
	}()
	return ctx, func() {
		syscall.Close(ended[1])
		<-watched
		syscall.Close(ended[0])
		cancel()
	}, nil
}
