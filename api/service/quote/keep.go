package quote

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/big"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/quotestore"
)

const (
	// spreadGas is how many call gas limits there are for one operation, so that contexts which its hash does not tell
	// apart get hashes of their own. It is small beside what a call takes.
	spreadGas = 1 << 16
	// mostTries bounds the search for a free one.
	mostTries = 256
)

// keep sponsors the operation and stores its context under its hash. Two requests that differ only in what the hash
// does not cover (say, the required tokens) must not share a hash: where it is taken, the call gas is raised by an
// amount that follows from the request. So a free one is found at once however many such requests there are, and
// nothing is signed while others wait to write.
func (q *Quoter) keep(ctx context.Context, r *request, c *quotestore.Context) error {
	o, err := op.FromWire(c.Op)
	if err != nil {
		return err
	}
	least, content := o.CallGasLimit, contentOf(*c)
	for try := range mostTries {
		o.CallGasLimit = new(big.Int).Add(least, moreGas(content, try))
		if q.Network.OnOwnNodes() {
			o.Limit(r.window)
		} else if err := o.Sponsor(ctx, r.window, r.chainID, q.Operator); err != nil {
			return err
		}
		c.Op = o.Wire()
		if c.OpHash, err = q.hashOf(o, r.chainID); err != nil {
			return err
		}
		if err = q.Book.Keep(ctx, *c); !errors.Is(err, quotestore.ErrHashTaken) {
			return err
		}
	}
	e := api.NewError(api.ErrTooManyRequests,
		"the same call was prepared too many times at once: wait until the first of them end")
	e.RetryAfter = time.Minute
	return e
}

// contentOf is a digest of all that makes a context another one; the sponsored operation, which is looked for, is not
// part of it.
func contentOf(c quotestore.Context) []byte {
	c.Op.CallGasLimit, c.Op.PaymasterData = "", ""
	raw, _ := json.Marshal(c, json.Deterministic(true)) // strings and numbers only
	sum := sha256.Sum256(raw)
	return sum[:]
}

// moreGas is what a try adds to the call gas: nothing at first, then what the content says.
func moreGas(content []byte, try int) *big.Int {
	if try == 0 {
		return new(big.Int)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(content[:len(content):len(content)], uint32(try)))
	return new(big.Int).SetUint64(binary.BigEndian.Uint64(sum[:]) % spreadGas)
}
