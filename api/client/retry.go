package client

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The retry rules (TH-N4, N8).
const (
	maxAttempts   = 3
	firstDelay    = 250 * time.Millisecond
	longestDelay  = 8 * time.Second
	retryBudget   = 20 * time.Second
	bucketSize    = 10.0
	bucketPerCall = 0.1
	minRetryAfter = time.Second
	maxRetryAfter = 60 * time.Second
)

// bucket allows retries only while most calls succeed, so that a broken service does not get many times the load.
type bucket struct {
	mu     sync.Mutex
	tokens float64
}

func (b *bucket) success() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = math.Min(bucketSize, b.tokens+bucketPerCall)
}

func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// delay is full jitter: anything from zero to an exponentially growing bound.
func (c *Client) delay(attempt int) time.Duration {
	bound := min(firstDelay<<attempt, longestDelay)
	return time.Duration(c.o.Rand() * float64(bound))
}

// retryAfter reads the header: seconds or an HTTP date, limited to between one second and one minute; garbage is one
// second; 0 means that the header is absent.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if s == "" {
		return 0
	}
	d := minRetryAfter
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		d = time.Duration(min(max(n, 0), int64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(s); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, minRetryAfter), maxRetryAfter)
}

// temporary reports whether an answer may differ a moment later.
func temporary(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
