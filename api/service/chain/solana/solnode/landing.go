package solnode

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
)

// Send hands a signed transaction to every node. An error says nothing about whether it lands.
func (c *Chain) Send(ctx context.Context, tx solana.Tx) error {
	if err := c.Ready(ctx); err != nil {
		return err
	}
	return c.Pool.BroadcastSolana(ctx, Wire(tx), tx.Name())
}

// lookup are the parameters of questions about a transaction.
type lookup struct {
	Commitment string  `json:"commitment,omitempty"`
	Encoding   string  `json:"encoding,omitempty"`
	Version    *uint64 `json:"maxSupportedTransactionVersion,omitempty"`
	History    bool    `json:"searchTransactionHistory,omitempty"`
	Limit      int     `json:"limit,omitempty"`
	Before     string  `json:"before,omitempty"`
	MinSlot    uint64  `json:"minContextSlot,omitempty"`
}

// Landed says what became of a transaction, by a quorum, once it is as deep as the file asks for; found is false
// before. What nodes return must be the transaction itself.
func (c *Chain) Landed(ctx context.Context, tx solana.Tx) (r solana.Receipt, found bool, err error) {
	if err := c.Ready(ctx); err != nil {
		return r, false, err
	}
	return c.landed(ctx, tx, c.final)
}

func (c *Chain) landed(ctx context.Context, tx solana.Tx, commitment string) (r solana.Receipt, found bool, err error) {
	var got *wireLanded
	err = c.Pool.Agreed(ctx, &got, "getTransaction", tx.Name(), lookup{Commitment: commitment, Encoding: "base64",
		Version: new(uint64)})
	if err != nil || got == nil {
		return r, false, err
	}
	if r, err = got.read(tx); err != nil {
		return r, false, fmt.Errorf("getTransaction: %w", err)
	}
	return r, true, nil
}

// wireLanded is the answer to getTransaction, without what nodes keep each in their own way.
type wireLanded struct {
	Slot        uint64   `json:"slot"`
	Transaction []string `json:"transaction"`
	Meta        *struct {
		Err any    `json:"err"`
		Fee uint64 `json:"fee"`
	} `json:"meta"`
}

func (w wireLanded) read(tx solana.Tx) (solana.Receipt, error) {
	if len(w.Transaction) != 2 || w.Transaction[1] != "base64" || w.Meta == nil ||
		w.Transaction[0] != base64.StdEncoding.EncodeToString(Wire(tx)) {
		return solana.Receipt{}, errForm
	}
	raw, err := json.Marshal(w.Meta.Err)
	if err != nil {
		return solana.Receipt{}, errForm
	}
	f, err := readFault(raw)
	if err != nil {
		return solana.Receipt{}, err
	}
	r := outcome(f)
	r.Slot, r.Fee, r.Message, r.Signature = w.Slot, w.Meta.Fee, tx.Message, tx.Name()
	for _, s := range tx.Signatures {
		r.Signatures = append(r.Signatures, solmsg.FormatSignature(s))
	}
	return r, nil
}

// FinalHeight is the block height that a quorum has finalized, whatever depth the file asks for.
func (c *Chain) FinalHeight(ctx context.Context) (uint64, error) {
	if err := c.Ready(ctx); err != nil {
		return 0, err
	}
	return c.Pool.Reached(ctx, "getBlockHeight", config{Commitment: Finalized})
}

// FinalSlot is the slot that a quorum has finalized.
func (c *Chain) FinalSlot(ctx context.Context) (uint64, error) {
	if err := c.Ready(ctx); err != nil {
		return 0, err
	}
	return c.Pool.Reached(ctx, "getSlot", config{Commitment: Finalized})
}

// mostSignatures is how many transactions of an account a node lists at once.
const mostSignatures = 1000

// Absent reports whether a transaction is in no history that a quorum of the nodes has: neither by its name, nor among
// those of its payer since a slot, as of the slot that is finalized now. Asked after its last block height was
// finalized, that is the end of it. Nodes that differ, or keep no history, are an error.
func (c *Chain) Absent(ctx context.Context, tx solana.Tx, since uint64) (bool, error) {
	m, err := solmsg.Parse(tx.Message)
	if err != nil {
		return false, err
	}
	slot, err := c.FinalSlot(ctx)
	if err != nil {
		return false, err
	}
	if _, found, err := c.landed(ctx, tx, Confirmed); found || err != nil {
		return false, err
	}
	var known wireStatuses
	err = c.Pool.Agreed(ctx, &known, "getSignatureStatuses", []string{tx.Name()}, lookup{History: true})
	if err != nil {
		return false, err
	}
	if len(known.Value) != 1 {
		return false, fmt.Errorf("getSignatureStatuses: %w", errForm)
	}
	if known.Value[0] != nil {
		return false, nil
	}
	listed, err := c.signatures(ctx, c.Pool.Agreed, m.FeePayer(), lookup{Commitment: Confirmed, Limit: mostSignatures,
		MinSlot: slot})
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(listed, func(e wireEntry) bool { return e.Signature == tx.Name() }) {
		return false, nil
	}
	if len(listed) == mostSignatures && listed[mostSignatures-1].Slot >= since {
		return false, fmt.Errorf("%s has too many transactions for one page", m.FeePayer())
	}
	return true, nil
}

// wireStatuses is the answer to getSignatureStatuses, of which it only matters here whether there is a status.
type wireStatuses struct {
	Value []*struct{} `json:"value"`
}

// wireEntry is a transaction of an account.
type wireEntry struct {
	Signature string `json:"signature"`
	Slot      uint64 `json:"slot"`
	Err       any    `json:"err"`
}

func (c *Chain) signatures(ctx context.Context, ask func(context.Context, any, string, ...any) error, of solmsg.Key,
	what lookup) ([]wireEntry, error) {
	var got []wireEntry
	if err := ask(ctx, &got, "getSignaturesForAddress", of.String(), what); err != nil {
		return nil, err
	}
	if !wellFormed(got, what.Limit) {
		return nil, fmt.Errorf("getSignaturesForAddress: %w", errForm)
	}
	return got, nil
}

// wellFormed reports whether a list names transactions, no more than were asked for, the newest first.
func wellFormed(list []wireEntry, most int) bool {
	for i, e := range list {
		if _, err := solmsg.ParseSignature(e.Signature); err != nil || i > 0 && e.Slot > list[i-1].Slot {
			return false
		}
	}
	return len(list) <= most
}
