// Package solrpc answers the methods of Solana's JSON-RPC that wallets and libraries call to read, send, confirm and
// subscribe, for an embedded ledger.
//
// Every commit of the ledger is final, so processed, confirmed and finalized mean the same. A block height is a slot.
//
// What a node knows and the ledger does not is left out or null: compute units of past transactions, blocks, votes, and
// the balances (meta) of transactions that were sealed before the ledger kept them. simulateTransaction gives as units
// what the runtime would set aside for the instructions, or the limit that was asked for when that is lower: enough as
// a limit, and more than would be used. Of a failure from before the ledger kept the runtime's names, the error is
// GenericError.
package solrpc

import (
	"context"
	"slices"
	"time"

	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/jsonrpc"
)

// Options of an endpoint. Version is the version of the Solana software that callers should take it for. Airdrop sends
// lamports from a faucet and returns the signature of its transaction; nil leaves requestAirdrop out.
type Options struct {
	Clock   func() time.Time
	Version string
	Airdrop Airdrop
}

// Codes of Solana.
const (
	codeInternal     = -32603
	codePreflight    = -32002
	codeSignature    = -32003
	codeNotAvailable = -32004
	codeLength       = -32013
	codeVersion      = -32015
	codeMinSlot      = -32016
)

type node struct {
	ledger *ledger.Ledger
	Options
}

// Methods are the methods of an endpoint for a ledger.
func Methods(l *ledger.Ledger, o Options) jsonrpc.Methods {
	n := &node{l, o}
	m := jsonrpc.Methods{
		"getLatestBlockhash": n.latestBlockhash, "isBlockhashValid": n.blockhashValid, "getSlot": n.slotNumber,
		"getBlockHeight": n.slotNumber, "getEpochInfo": n.epochInfo, "getEpochSchedule": n.epochSchedule,
		"getBlockTime": n.blockTime, "getFirstAvailableBlock": constant(0), "getGenesisHash": n.genesis,
		"getHealth": constant("ok"), "getVersion": n.version, "getTransactionCount": n.transactionCount,
		"getSupply": n.supply, "getRecentPrioritizationFees": n.priorityFees, "getFeeForMessage": n.feeForMessage,
		"getMinimumBalanceForRentExemption": n.rent,

		"getBalance": n.balance, "getAccountInfo": n.account, "getMultipleAccounts": n.accounts,
		"getTokenAccountsByOwner": n.tokenAccounts, "getTokenAccountBalance": n.tokenBalance,
		"getTokenSupply": n.tokenSupply,

		"sendTransaction": n.send, "simulateTransaction": n.simulate, "getSignatureStatuses": n.statuses,
		"getTransaction": n.transaction, "getSignaturesForAddress": n.signatures,

		"signatureSubscribe": n.signatureSubscribe, "slotSubscribe": n.slotSubscribe,
		"accountSubscribe": n.accountSubscribe, "logsSubscribe": n.logsSubscribe,
	}
	for _, name := range []string{"signature", "slot", "account", "logs"} {
		m[name+"Unsubscribe"] = unsubscribe
	}
	if o.Airdrop != nil {
		m["requestAirdrop"] = n.airdrop
	}
	for name, method := range m {
		m[name] = func(ctx context.Context, p jsonrpc.Params) (any, error) {
			l.YieldToWriter()
			return method(ctx, p)
		}
	}
	return m
}

func constant(v any) jsonrpc.Method {
	return func(context.Context, jsonrpc.Params) (any, error) { return v, nil }
}

func (n *node) now() uint64  { return uint64(max(0, n.Clock().Unix())) }
func (n *node) slot() uint64 { return n.ledger.Slot(n.now()) }

// config is the object that most methods take last; each looks at the fields that it has.
type config struct {
	Commitment     string   `json:"commitment"`
	MinContextSlot uint64   `json:"minContextSlot"`
	Encoding       string   `json:"encoding"`
	DataSlice      *slicing `json:"dataSlice"`

	SkipPreflight          bool    `json:"skipPreflight"`
	SigVerify              bool    `json:"sigVerify"`
	ReplaceRecentBlockhash bool    `json:"replaceRecentBlockhash"`
	InnerInstructions      bool    `json:"innerInstructions"`
	Accounts               *wanted `json:"accounts"`

	EnableReceivedNotification bool `json:"enableReceivedNotification"`

	MaxVersion *uint64 `json:"maxSupportedTransactionVersion"`
	Limit      *int    `json:"limit"`
	Before     string  `json:"before"`
	Until      string  `json:"until"`
}

type slicing struct{ Offset, Length uint64 }

type wanted struct {
	Encoding  string   `json:"encoding"`
	Addresses []string `json:"addresses"`
}

// config reads the parameter at i, and checks what all methods have in common.
func (n *node) config(p jsonrpc.Params, i int) (c config, err error) {
	if err := p.Optional(i, &c); err != nil {
		return c, err
	}
	if !slices.Contains([]string{"", "processed", "confirmed", "finalized"}, c.Commitment) {
		return c, invalid("unknown commitment %q", c.Commitment)
	}
	if slot := n.slot(); c.MinContextSlot > slot {
		return c, &jsonrpc.Error{Code: codeMinSlot, Message: "Minimum context slot has not been reached",
			Data: map[string]uint64{"contextSlot": slot}}
	}
	return c, nil
}

func invalid(format string, args ...any) error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid param: "+format, args...)
}

// readKey reads an address.
func readKey(p jsonrpc.Params, i int) (solmsg.Key, error) {
	var s string
	if err := p.Read(i, &s); err != nil {
		return solmsg.Key{}, err
	}
	return parseKey(s)
}

func parseKey(s string) (solmsg.Key, error) {
	k, err := solmsg.ParseKey(s)
	if err == nil {
		return k, nil
	}
	return k, invalid("%s", wrong(s, 44))
}

// wrong says whether a text is not base58, or stands for another number of bytes.
func wrong(s string, most int) string {
	if len(s) <= 2*most {
		if _, err := solmsg.FromBase58(s); err != nil {
			return "Invalid"
		}
	}
	return "WrongSize"
}

func parseSignature(s string) (sig [64]byte, err error) {
	if sig, err = solmsg.ParseSignature(s); err != nil {
		return sig, invalid("%s", wrong(s, 88))
	}
	return sig, nil
}

// place is what a result was read in.
type place struct {
	Slot       uint64 `json:"slot"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// answer is a result with its context.
type answer struct {
	Context place `json:"context"`
	Value   any   `json:"value"`
}

func (n *node) answer(v any) answer { return answer{place{n.slot(), n.Version}, v} }

func (n *node) latestBlockhash(_ context.Context, p jsonrpc.Params) (any, error) {
	if _, err := n.config(p, 0); err != nil {
		return nil, err
	}
	return n.answer(n.recent()), nil
}

// blockhash is a recent block hash.
type blockhash struct {
	Blockhash            string `json:"blockhash"`
	LastValidBlockHeight uint64 `json:"lastValidBlockHeight"`
}

func (n *node) recent() blockhash {
	hash, last := n.ledger.RecentHash(n.now())
	return blockhash{hash.String(), last}
}

func (n *node) blockhashValid(ctx context.Context, p jsonrpc.Params) (any, error) {
	hash, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	valid, err := n.ledger.BlockhashValid(ctx, hash, n.now())
	return n.answer(valid), err
}

func (n *node) slotNumber(_ context.Context, p jsonrpc.Params) (any, error) {
	_, err := n.config(p, 0)
	return n.slot(), err
}

// slotsInEpoch is mainnet's.
const slotsInEpoch = 432_000

func (n *node) epochInfo(_ context.Context, p jsonrpc.Params) (any, error) {
	_, err := n.config(p, 0)
	slot := n.slot()
	return map[string]uint64{"absoluteSlot": slot, "blockHeight": slot, "epoch": slot / slotsInEpoch,
		"slotIndex": slot % slotsInEpoch, "slotsInEpoch": slotsInEpoch,
		"transactionCount": n.ledger.Transactions()}, err
}

func (n *node) epochSchedule(context.Context, jsonrpc.Params) (any, error) {
	return map[string]any{"slotsPerEpoch": slotsInEpoch, "leaderScheduleSlotOffset": slotsInEpoch, "warmup": false,
		"firstNormalEpoch": 0, "firstNormalSlot": 0}, nil
}

func (n *node) blockTime(_ context.Context, p jsonrpc.Params) (any, error) {
	var slot uint64
	if err := p.Read(0, &slot); err != nil {
		return nil, err
	}
	if slot > n.slot() {
		return nil, jsonrpc.Errorf(codeNotAvailable, "Block not available for slot %d", slot)
	}
	return n.ledger.SlotTime(slot), nil
}

func (n *node) genesis(context.Context, jsonrpc.Params) (any, error) {
	return n.ledger.Genesis().String(), nil
}

func (n *node) version(context.Context, jsonrpc.Params) (any, error) {
	return map[string]any{"solana-core": n.Version, "feature-set": 0}, nil
}

func (n *node) transactionCount(_ context.Context, p jsonrpc.Params) (any, error) {
	_, err := n.config(p, 0)
	return n.ledger.Transactions(), err
}

// supply counts every lamport that was not burned as circulating.
func (n *node) supply(_ context.Context, p jsonrpc.Params) (any, error) {
	if _, err := n.config(p, 0); err != nil {
		return nil, err
	}
	total := n.ledger.Supply()
	return n.answer(map[string]any{"total": total, "circulating": total, "nonCirculating": 0,
		"nonCirculatingAccounts": []string{}}), nil
}

// priorityFees has none: there is no competition for a place here.
func (n *node) priorityFees(_ context.Context, p jsonrpc.Params) (any, error) {
	var keys []string
	if err := p.Optional(0, &keys); err != nil {
		return nil, err
	}
	if len(keys) > 128 {
		return nil, invalid("Too many inputs provided; max 128")
	}
	for _, k := range keys {
		if _, err := parseKey(k); err != nil {
			return nil, err
		}
	}
	return []struct{}{}, nil
}

func (n *node) feeForMessage(ctx context.Context, p jsonrpc.Params) (any, error) {
	var text string
	if err := p.Read(0, &text); err != nil {
		return nil, err
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	raw, err := unpack(text, "base64", "solana_message::versions::VersionedMessage")
	if err != nil {
		return nil, err
	}
	m, err := solmsg.Parse(raw)
	if err != nil {
		return nil, invalid("%s", err)
	}
	valid, err := n.ledger.BlockhashValid(ctx, m.Blockhash, n.now())
	if err != nil || !valid {
		return n.answer(nil), err
	}
	fee, err := ledger.Fee(m)
	if err != nil {
		return nil, invalid("%s", err)
	}
	return n.answer(fee), nil
}

// maxSpace is how much data an account has at most.
const maxSpace = 10 << 20

func (n *node) rent(_ context.Context, p jsonrpc.Params) (any, error) {
	var size uint64
	if err := p.Read(0, &size); err != nil {
		return nil, err
	}
	if size > maxSpace {
		return nil, invalid("an account has at most %d bytes of data", maxSpace)
	}
	_, err := n.config(p, 1)
	return ledger.RentMinimum(int(size)), err
}
