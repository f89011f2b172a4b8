package httpapi

import (
	"io"
	"sync"
	"time"

	"coffer/api"
)

const (
	// freeBody is how long a body may be in bytes without counting as large: nearly all are far below.
	freeBody = 256 << 10
	// Large bodies are held in memory while they arrive and are worked on, so there is a bound for all and one for each
	// caller, which cannot keep the others out.
	mostLarge       = 32
	mostLargeCaller = 8
)

// largeBodies counts the requests with large bodies that are under way.
type largeBodies struct {
	mu  sync.Mutex
	all int
	by  map[string]int // caller → requests
}

// enter admits one more of a caller, who leaves when the request is answered.
func (l *largeBodies) enter(caller string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= mostLarge || l.by[caller] >= mostLargeCaller {
		return nil, false
	}
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.all++
	l.by[caller]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.by[caller]--; l.by[caller] == 0 {
			delete(l.by, caller)
		}
	}), true
}

// read reads a body to its end. What is beyond freeBody is only read while there is room for a large one; leave, never
// nil, gives the room back.
func (l *largeBodies) read(body io.Reader, caller string) (raw []byte, leave func(), err error) {
	leave = func() {}
	raw, err = io.ReadAll(io.LimitReader(body, freeBody))
	if err != nil || len(raw) < freeBody {
		return raw, leave, err
	}
	room, ok := l.enter(caller)
	if !ok {
		e := api.NewError(api.ErrTooManyRequests, "Too many requests with bodies above %d bytes are under way",
			freeBody)
		e.RetryAfter = time.Second
		return nil, leave, e
	}
	rest, err := io.ReadAll(body)
	return append(raw, rest...), room, err
}
