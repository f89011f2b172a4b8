package feeds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/rpcpool"
)

// round is what latestRoundData answers, or why it has no answer.
type round struct {
	id, answer, answeredIn *big.Int
	started, updated       time.Time
	problem                string
}

// phase changes when a proxy gets another aggregator.
func (r round) phase() uint64 { return new(big.Int).Rsh(r.id, 64).Uint64() }

// facts are what a feed's aggregator promises. They are read once for each phase; bounds are nil where it has none.
type facts struct {
	decimals int
	phase    uint64
	min, max *big.Int
}

// asked is an eth_call without arguments, and its answer.
type asked struct {
	to   common.Address
	sign string
	out  hexutil.Bytes
}

// message is the call that a node runs.
type message struct {
	To   common.Address `json:"to"`
	Data hexutil.Bytes  `json:"data"`
}

func (a *asked) call() rpcpool.Call {
	return rpcpool.Call{Method: "eth_call", Result: &a.out,
		Params: []any{message{a.to, crypto.Keccak256([]byte(a.sign))[:4]}, "latest"}}
}

// look reads all feeds of a chain in one HTTP body, and in up to two more what an aggregator promises that is new.
func (c *watched) look(ctx context.Context, clock func() time.Time) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	old := c.last()
	next, err := c.read(ctx, old, clock)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.seen.problem = err.Error()
		return err
	}
	c.seen = next
	return nil
}

func (c *watched) read(ctx context.Context, old seen, clock func() time.Time) (seen, error) {
	next := seen{rounds: map[common.Address]round{}, facts: map[common.Address]facts{}}
	var list []*asked
	for _, e := range c.Feeds {
		if _, twice := next.rounds[e.Address]; !twice {
			next.rounds[e.Address] = round{}
			list = append(list, &asked{to: e.Address, sign: "latestRoundData()"})
		}
	}
	if c.Sequencer != (common.Address{}) {
		list = append(list, &asked{to: c.Sequencer, sign: "latestRoundData()"})
	}
	var gas hexutil.Big
	calls := []rpcpool.Call{{Method: "eth_gasPrice", Result: &gas}}
	for _, a := range list {
		calls = append(calls, a.call())
	}
	var fees struct {
		Base []*hexutil.Big `json:"baseFeePerGas"`
	}
	calls = append(calls, rpcpool.Call{Method: "eth_feeHistory", Params: []any{"0x1", "latest", []any{}},
		Result: &fees})
	if err := c.Nodes.Batch(ctx, calls); err != nil {
		return seen{}, err
	}
	next.at = clock()
	if calls[0].Err == nil && gas.ToInt().Sign() > 0 {
		next.gasPrice = gas.ToInt()
		if n := len(fees.Base); calls[len(calls)-1].Err == nil && n == 2 && fees.Base[1] != nil {
			next.tip = new(big.Int).Sub(next.gasPrice, fees.Base[1].ToInt())
			if next.tip.Sign() < 0 { // the node suggests less than the next block asks for
				next.tip.SetInt64(0)
			}
		}
	}
	if c.DataFee != nil && next.gasPrice != nil {
		var err error
		if next.dataFee, next.dataGas, err = c.DataFee(ctx); err != nil {
			next.gasPrice = nil // what is not known cannot be charged for
		}
	}
	if c.Sequencer != (common.Address{}) {
		last := len(list) - 1
		err := calls[last+1].Err
		if c.Agreed != nil && err == nil {
			err = c.Agreed(ctx, &list[last].out, "eth_call", calls[last+1].Params...)
		}
		next.sequencer = uptime(parseRound(list[last].out, err), c.Name, next.at)
		list = list[:last]
	}
	maps.Copy(next.facts, old.facts)
	var fresh []common.Address
	for i, a := range list {
		r := parseRound(a.out, calls[i+1].Err)
		if r.problem == "" && c.Agreed != nil && !r.same(old.rounds[a.to]) {
			r.problem = c.confirm(ctx, a.to, r)
		}
		next.rounds[a.to] = r
		if k, known := next.facts[a.to]; r.problem == "" && (!known || k.phase != r.phase()) {
			delete(next.facts, a.to)
			fresh = append(fresh, a.to)
		}
	}
	if len(fresh) > 0 {
		if err := c.learn(ctx, fresh, &next); err != nil {
			return seen{}, err
		}
	}
	return next, nil
}

// same reports whether a round is one that was confirmed.
func (r round) same(confirmed round) bool {
	return confirmed.problem == "" && confirmed.id != nil && r.id.Cmp(confirmed.id) == 0 &&
		r.answer.Cmp(confirmed.answer) == 0 && r.updated.Equal(confirmed.updated)
}

// confirm has a quorum of the nodes say the same of a round, which does not change any more, whatever their heads are.
func (c *watched) confirm(ctx context.Context, feed common.Address, r round) (problem string) {
	var out hexutil.Bytes
	ask := append(crypto.Keccak256([]byte("getRoundData(uint80)"))[:4], common.LeftPadBytes(r.id.Bytes(), 32)...)
	err := c.Agreed(ctx, &out, "eth_call", message{feed, ask}, "latest")
	if agreed := parseRound(out, err); agreed.problem != "" || !r.same(agreed) {
		return "the nodes of " + c.Name + " do not agree on its price"
	}
	return ""
}

// learn reads what aggregators promise: first the decimals and which aggregator a proxy has, then its bounds.
func (c *watched) learn(ctx context.Context, fresh []common.Address, next *seen) error {
	var first, second []*asked
	var calls []rpcpool.Call
	for _, at := range fresh {
		for _, sign := range []string{"decimals()", "aggregator()"} {
			a := &asked{to: at, sign: sign}
			first, calls = append(first, a), append(calls, a.call())
		}
	}
	if err := c.Nodes.Batch(ctx, calls); err != nil {
		return err
	}
	behind := make([]common.Address, len(fresh))
	for i, at := range fresh {
		behind[i] = at // an aggregator without a proxy
		if w := first[2*i+1].out; calls[2*i+1].Err == nil && len(w) == 32 {
			behind[i] = common.BytesToAddress(w)
		}
	}
	said := calls
	calls = nil
	for _, at := range behind {
		for _, sign := range []string{"minAnswer()", "maxAnswer()"} {
			a := &asked{to: at, sign: sign}
			second, calls = append(second, a), append(calls, a.call())
		}
	}
	if err := c.Nodes.Batch(ctx, calls); err != nil {
		return err
	}
	for i, at := range fresh {
		r := next.rounds[at]
		n, _, problem := first[2*i].word(said[2*i].Err)
		_, _, problemOf := first[2*i+1].word(said[2*i+1].Err)
		low, hasLow, problemLow := second[2*i].word(calls[2*i].Err)
		high, hasHigh, problemHigh := second[2*i+1].word(calls[2*i+1].Err)
		problem = cmp.Or(problem, problemOf, problemLow, problemHigh)
		if problem == "" && (n == nil || n.Sign() < 0 || n.BitLen() > 6) {
			problem = "its feed on " + c.Name + " does not say how many decimals it has"
		}
		if problem != "" {
			r.problem = problem
			next.rounds[at] = r
			continue
		}
		k := facts{decimals: int(n.Int64()), phase: r.phase()}
		if hasLow {
			k.min = low
		}
		if hasHigh {
			k.max = high
		}
		next.facts[at] = k
	}
	return nil
}

// word is the answer to a call that an aggregator need not have; problem says that a node refused it for another
// reason.
func (a *asked) word(err error) (v *big.Int, has bool, problem string) {
	var node *rpcpool.Error
	if err != nil && (!errors.As(err, &node) || !node.Reverted()) {
		return nil, false, "its feed was not read: " + err.Error()
	}
	if err != nil || len(a.out) != 32 {
		return nil, false, ""
	}
	return signed(a.out), true, ""
}

// parseRound reads the five words of latestRoundData.
func parseRound(out []byte, err error) round {
	var node *rpcpool.Error
	switch {
	case errors.As(err, &node) && node.Reverted():
		return round{problem: "its feed has no round"}
	case err != nil:
		return round{problem: "its feed was not read: " + err.Error()}
	case len(out) != 5*32:
		return round{problem: "at its address there is no price feed"}
	}
	w := make([]*big.Int, 5)
	for i := range w {
		w[i] = signed(out[32*i : 32*i+32])
	}
	if w[0].Sign() <= 0 || w[0].BitLen() > 80 || w[3].Sign() <= 0 || !w[3].IsInt64() || !w[2].IsInt64() {
		return round{problem: "its feed has no round"}
	}
	return round{id: w[0], answer: w[1], started: time.Unix(w[2].Int64(), 0), updated: time.Unix(w[3].Int64(), 0),
		answeredIn: w[4]}
}

// signed reads one word.
func signed(word []byte) *big.Int {
	v := new(big.Int).SetBytes(word)
	if word[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return v
}

// uptime says why the prices of a chain do not count; "" when its sequencer works. The answer is 0 for up, and the
// round started when that changed.
func uptime(r round, chain string, now time.Time) string {
	switch {
	case r.problem != "":
		return "whether the sequencer of " + chain + " works is unknown"
	case r.answer.Sign() != 0:
		return "the sequencer of " + chain + " does not work"
	case r.started.Unix() <= 0:
		return "whether the sequencer of " + chain + " works is unknown"
	case now.Sub(r.started) < grace:
		return fmt.Sprintf("the sequencer of %s works again since %s; its prices count after %s", chain,
			r.started.UTC().Format("15:04 UTC"), span(grace))
	}
	return ""
}
