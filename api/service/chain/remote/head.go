package remote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
)

// head is a block, and what its successor needs of it.
type head struct {
	chain.Header
	coinbase    common.Address
	random      common.Hash
	gasLimit    uint64
	shown       *uint64
	nextBaseFee *big.Int
	blobBaseFee *big.Int
	rules       rules
}

// header is what a caller gets to keep.
func (h *head) header() chain.Header {
	out := h.Header
	out.BaseFee = new(big.Int).Set(h.BaseFee)
	return out
}

// next is the block after it, in which messages are executed. Random is the head's: the successor's is not known yet.
func (h *head) next(at uint64) exec.Block {
	return exec.Block{
		Number: h.Number + 1, Time: max(at, h.Time), GasLimit: h.gasLimit, BaseFee: h.nextBaseFee,
		BlobBaseFee: h.blobBaseFee, Coinbase: h.coinbase, Random: h.random, Shown: h.shown,
	}
}

// look asks for the newest block, in one round trip. A block that is older than one seen before is not believed at
// once: nodes behind one address are not all equally far.
func (c *Chain) look(ctx context.Context) (*head, error) {
	c.mu.Lock()
	known := c.rules
	c.mu.Unlock()
	var (
		b    *block
		fees struct {
			Oldest   hexutil.Uint64   `json:"oldestBlock"`
			BaseFees []reads.Quantity `json:"baseFeePerGas"`
		}
		blob reads.Quantity
		p    *probe
	)
	asks := []reads.Ask{
		{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Into: &b},
		{Method: "eth_feeHistory", Params: []any{"0x1", "latest", []any{}}, Into: &fees, Hint: true},
		{Method: "eth_blobBaseFee", Into: &blob, Hint: true},
	}
	if now := c.o.Clock(); known.at.IsZero() || now.Sub(known.at) >= rulesFor {
		p = newProbe(now)
		asks = append(asks, p.asks...)
	}
	if err := c.send(ctx, asks); err != nil {
		return nil, err
	}
	if b == nil {
		return nil, errors.New("the node names no newest block")
	}
	h, err := b.head()
	if err != nil {
		return nil, err
	}
	if n := len(fees.BaseFees); asks[1].Err == nil && n == 2 && uint64(fees.Oldest) == h.Number {
		h.nextBaseFee = fees.BaseFees[1].ToInt()
	}
	if asks[2].Err == nil {
		h.blobBaseFee = blob.ToInt()
	}
	h.rules = known
	if p != nil {
		found, err := p.rules(asks[3:])
		if err != nil {
			return nil, err
		}
		h.rules = found
		if found.fork < known.fork { // no chain goes back behind a hard fork: the node was at fault
			h.rules = known
			h.rules.at = found.at
		}
	}
	return c.saw(h), nil
}

// saw notes a head and returns the one to work with.
func (c *Chain) saw(h *head) *head {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = h.rules
	if c.latest != nil && h.Number < c.latest.Number {
		now := c.o.Clock()
		if c.older.IsZero() {
			c.older = now
		}
		if now.Sub(c.older) < believedAfter {
			return c.latest
		}
	}
	c.latest, c.seen, c.older = h, c.o.Clock(), time.Time{}
	return h
}

// gone forgets a head that the nodes do not have, so that the next one is believed whatever its number.
func (c *Chain) gone(h *head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest != nil && c.latest.Hash == h.Hash {
		c.latest = nil
	}
}

// rules are how a chain executes, as its nodes show it.
type rules struct {
	fork    exec.Hardfork
	foreign []common.Address
	oracle  bool      // an OP chain, with its GasPriceOracle
	at      time.Time // when they were probed; zero means never
}

// probe asks a node to run code that has a meaning only from some hard fork on.
type probe struct {
	at   time.Time
	asks []reads.Ask
}

const (
	probeControl = iota // must run on every chain
	probeShanghai
	probeCancun
	probeOsaka
	probePrague
	probeP256
	probeArbitrum
	probeOracle
)

var (
	p256     = common.HexToAddress("0x100")
	arbitrum = common.HexToAddress("0x64")
	// signature is a valid one for P256VERIFY (the vector of EIP-7951).
	signature = hexutil.MustDecode("0x4cee90eb86eaa050036147a12d49004b6b9c72bd725d39d4785011fe190f0b4d" +
		"a73bd4903f0ce3b639bbbf6e8e80d16931ff4bcf5993d58468e8fb19086e8cac" +
		"36dbcd03009df8c59286b162af3bd7fcc0450c9aa81be5d10d312af6c66b1d60" +
		"4aebd3099c618202fcfe16ae7770b0c49ab5eadf74b754204a3bb6060e44eff3" +
		"7618b065f9832de4ca6ca971a7a1adc826d0f7c00181a5fb2ddf79ae00b4e10e")
)

func newProbe(now time.Time) *probe {
	create := func(code string) reads.Ask {
		return reads.Ask{Method: "eth_call", Params: []any{map[string]any{"data": code}, "latest"},
			Into: new(data), Hint: true}
	}
	call := func(to common.Address, input []byte) reads.Ask {
		return reads.Ask{Method: "eth_call", Params: []any{args(chain.Message{To: to, Data: input}), "latest"},
			Into: new(data), Hint: true}
	}
	return &probe{at: now, asks: []reads.Ask{
		probeControl:  create("0x6000"),                                     // PUSH1
		probeShanghai: create("0x5f"),                                       // PUSH0
		probeCancun:   create("0x60005c"),                                   // TLOAD
		probeOsaka:    create("0x60001e"),                                   // CLZ
		probePrague:   call(common.HexToAddress("0x0b"), make([]byte, 256)), // BLS12_G1ADD
		probeP256:     call(p256, signature),
		probeArbitrum: {Method: "eth_getCode", Params: []any{arbitrum, "latest"}, Into: new(data), Hint: true},
		probeOracle:   {Method: "eth_getCode", Params: []any{gasPriceOracle, "latest"}, Into: new(data), Hint: true},
	}}
}

// rules reads the answers.
func (p *probe) rules(asks []reads.Ask) (r rules, err error) {
	for i, a := range asks {
		if a.Err != nil && (!reads.Answered(a.Err) || i == probeControl || i == probeArbitrum || i == probeOracle) {
			return r, fmt.Errorf("find out the rules of the chain: %w", a.Err)
		}
	}
	returned := func(i int) int {
		if asks[i].Err != nil {
			return 0
		}
		return len(*asks[i].Into.(*data))
	}
	r.at = p.at
	switch {
	case asks[probeOsaka].Err == nil:
		r.fork = exec.Osaka
	case returned(probePrague) == 128:
		r.fork = exec.Prague
	case asks[probeCancun].Err == nil:
		r.fork = exec.Cancun
	case asks[probeShanghai].Err == nil:
		r.fork = exec.Shanghai
	}
	if r.fork < exec.Osaka && returned(probeP256) == common.HashLength {
		r.foreign = append(r.foreign, p256)
	}
	r.oracle = returned(probeOracle) > 0
	if returned(probeArbitrum) > 0 { // ArbSys and its neighbours, NodeInterface, ArbDebug
		for n := byte(0x64); n <= 0x74; n++ {
			r.foreign = append(r.foreign, common.BytesToAddress([]byte{n}))
		}
		for _, n := range []byte{0xc8, 0xc9, 0xff} {
			r.foreign = append(r.foreign, common.BytesToAddress([]byte{n}))
		}
	}
	return r, nil
}
