package httpapi

import (
	"encoding/hex"
	"fmt"
	"io"
	"sync/atomic"
)

// RequestIDs names requests for their answers and for the log: a part that was drawn once, and a number that counts
// them.
type RequestIDs struct {
	prefix string
	count  atomic.Uint64
}

// NewRequestIDs draws the first part from random; it fails when that does.
func NewRequestIDs(random io.Reader) (*RequestIDs, error) {
	var id [4]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return nil, fmt.Errorf("draw a request id: %w", err)
	}
	return &RequestIDs{prefix: hex.EncodeToString(id[:])}, nil
}

// Next is the name of one more request.
func (r *RequestIDs) Next() string { return fmt.Sprintf("%s-%d", r.prefix, r.count.Add(1)) }
