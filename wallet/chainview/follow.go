package chainview

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/rpcpool/reads"
	"coffer/wallet/verify"
)

const (
	// mostHashes bounds the transactions that are looked up because the service named them.
	mostHashes = 4
	// lookBack is how many blocks are searched for a log where no transaction that was named has it.
	lookBack = 1000
)

// Follow asks what became of a quote. Traces of chains without a node have no course.
func (v *View) Follow(ctx context.Context, traces []verify.Trace) []verify.Course {
	return each(ctx, v, traces, func(t verify.Trace) uint64 { return t.Chain }, (*chain).follow,
		func(t verify.Trace, why string) verify.Course { return verify.Course{Trace: t, Trouble: why} })
}

func (c *chain) follow(ctx context.Context, t verify.Trace) (verify.Course, error) {
	x := &verify.Course{Trace: t}
	b, err := c.newest(ctx)
	if err != nil {
		return *x, err
	}
	x.Block = uint64(b.Number)
	switch {
	case x.Escrow != (common.Address{}):
		err = c.deposit(ctx, reads.Block{Number: x.Block, Hash: b.Hash}, x)
	case x.Filler != (common.Address{}):
		err = c.logs(ctx, x, x.Filler, []common.Hash{filler.FilledTopic(), x.Quote}, func(l log) {
			if id, terms, ok := filler.DecodeFilled(l.Topics, l.Data); ok && id == x.Quote {
				x.Fills = append(x.Fills, verify.FillSeen{Block: uint64(l.Block), Terms: terms})
			}
		})
	default:
		err = c.logs(ctx, x, x.EntryPoint, []common.Hash{ranTopic(), x.Op}, func(l log) {
			const words = 4
			if len(l.Topics) == words && l.Topics[0] == ranTopic() && l.Topics[1] == x.Op &&
				len(l.Data) == words*common.HashLength {
				x.Ran = &verify.RanSeen{Block: uint64(l.Block), Success: l.Data[2*common.HashLength-1] == 1}
			}
		})
	}
	return *x, err
}

// ranTopic is the first topic of the entry point's log of an operation.
func ranTopic() common.Hash {
	return crypto.Keccak256Hash([]byte("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"))
}

// deposit reads the escrow's record of a payment.
func (c *chain) deposit(ctx context.Context, at reads.Block, x *verify.Course) error {
	asks := []reads.Ask{reads.CallOf(x.Escrow, escrow.DepositsCalldata(x.Quote, x.Depositor))}
	if err := c.at.Pinned(ctx, at, asks); err != nil {
		return err
	}
	if asks[0].Err != nil {
		return asks[0].Err
	}
	kept, ok := escrow.DecodeKept(*asks[0].Into.(*hexutil.Bytes))
	x.Deposit = map[escrow.State]verify.Outcome{escrow.Held: verify.Held, escrow.Released: verify.Released,
		escrow.Refunded: verify.Refunded}[kept.State]
	if !ok || x.Deposit == "" {
		x.Deposit = verify.Absent
		return nil
	}
	x.Terms = kept.Terms
	return nil
}

// log is one of a receipt, or of eth_getLogs.
type log struct {
	Address common.Address `json:"address"`
	Topics  []common.Hash  `json:"topics"`
	Data    hexutil.Bytes  `json:"data"`
	Block   hexutil.Uint64 `json:"blockNumber"`
	Removed bool           `json:"removed"`
}

// logs finds a contract's logs with two topics: in the transactions that were named, else in the last blocks.
func (c *chain) logs(ctx context.Context, x *verify.Course, of common.Address, topics []common.Hash,
	each func(log)) error {
	type receipt struct {
		Status hexutil.Uint64 `json:"status"`
		Block  hexutil.Uint64 `json:"blockNumber"`
		Logs   []log          `json:"logs"`
	}
	found := 0
	take := func(l log) {
		if l.Address == of && !l.Removed && len(l.Topics) > 1 && l.Topics[0] == topics[0] && l.Topics[1] == topics[1] {
			found++
			each(l)
		}
	}
	hashes := x.Hashes[:min(len(x.Hashes), mostHashes)]
	receipts := make([]*receipt, len(hashes))
	asks := make([]reads.Ask, len(hashes))
	for i, h := range hashes {
		asks[i] = reads.Ask{Method: "eth_getTransactionReceipt", Params: []any{h}, Into: &receipts[i], Hint: true}
	}
	if len(asks) > 0 {
		if err := c.at.Send(ctx, asks); err != nil {
			return err
		}
	}
	for _, r := range receipts {
		if r == nil || r.Status != 1 {
			continue
		}
		for _, l := range r.Logs {
			l.Block = r.Block
			take(l)
		}
	}
	if found > 0 {
		return nil
	}
	var all []log
	err := c.at.Send(ctx, []reads.Ask{{Method: "eth_getLogs", Into: &all, Params: []any{map[string]any{"address": of,
		"topics": topics, "fromBlock": hexutil.Uint64(x.Block - min(x.Block, lookBack)),
		"toBlock": hexutil.Uint64(x.Block)}}}})
	for _, l := range all {
		take(l)
	}
	return err
}
