package plimsoll

import "sync"

// lifetime counts the calls that use something, so that it is freed after the last of them though
// it be closed in the middle. Closing never waits.
type lifetime struct {
	mu     sync.Mutex
	users  int
	closed bool
}

// enter begins a call; false if it comes too late.
func (l *lifetime) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.users++
	return true
}

// leave ends a call. True if the thing is to be freed now.
func (l *lifetime) leave() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users--
	return l.closed && l.users == 0
}

// close lets no more calls begin. First is whether it was open; free is whether the thing is to be
// freed now, because no call is under way.
func (l *lifetime) close() (first, free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = !l.closed
	l.closed = true
	return first, first && l.users == 0
}
