package solnode

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/text"
)

// Chain is the chain as use cases know it. Ready is asked before each use of the nodes: nothing is read from a chain
// that may be another one.
type Chain struct {
	*Client
	Ready func(context.Context) error
}

var _ solana.Others = (*Chain)(nil)

// hashLife is how long a block hash is surely taken, in seconds: 150 slots of 400 ms, less what reading and signing
// cost.
const hashLife = 50

// Blockhash implements solana.Chain.
func (c *Chain) Blockhash(ctx context.Context, at uint64) (hash solmsg.Key, lastValid uint64, err error) {
	hash, _, lastValid, err = c.Recent(ctx, at)
	return hash, lastValid, err
}

// BlockhashValid implements solana.Chain.
func (c *Chain) BlockhashValid(ctx context.Context, hash solmsg.Key, _ uint64) (bool, error) {
	if err := c.Ready(ctx); err != nil {
		return false, err
	}
	var got struct {
		Value bool `json:"value"`
	}
	err := c.Pool.Call(ctx, &got, "isBlockhashValid", hash.String(), config{Commitment: Confirmed})
	return got.Value, err
}

// State implements solana.Chain. Each account is read when it is asked for.
func (c *Chain) State(ctx context.Context) (solana.State, error) {
	if err := c.Ready(ctx); err != nil {
		return nil, err
	}
	return &state{ctx, c.Client, map[solmsg.Key]solana.Account{}}, nil
}

// state is a view of the newest confirmed state, bounded by the context that it was opened with.
type state struct {
	ctx context.Context
	*Client
	known map[solmsg.Key]solana.Account
}

// Prime implements solana.Primer.
func (s *state) Prime(keys ...solmsg.Key) error {
	all, err := s.Accounts(s.ctx, false, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		s.known[k] = all[i].Account
	}
	return nil
}

// Account implements solana.State.
func (s *state) Account(k solmsg.Key) (solana.Account, error) {
	if a, known := s.known[k]; known {
		return a, nil
	}
	all, err := s.Accounts(s.ctx, false, k)
	if err != nil {
		return solana.Account{}, err
	}
	return all[0].Account, nil
}

// Lamports implements solana.State.
func (s *state) Lamports(k solmsg.Key) (uint64, error) {
	a, err := s.Account(k)
	return a.Lamports, err
}

// Tokens implements solana.State.
func (s *state) Tokens(owner, mint solmsg.Key) (amount uint64, exists bool, err error) {
	at, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		return 0, false, err
	}
	a, err := s.Account(at)
	if err != nil {
		return 0, false, err
	}
	return tokens(a, owner, mint)
}

// Close implements solana.State.
func (s *state) Close() {}

// Of a token account of SPL Token: where its state is, and two states. What an issuer froze is held all the same.
const (
	stateAt     = 108
	initialized = 1
	frozen      = 2
)

// tokens is what an account holds as the associated token account of an owner; exists is false when it is none.
func tokens(a solana.Account, owner, mint solmsg.Key) (amount uint64, exists bool, err error) {
	if a.Lamports == 0 || a.Owner == solmsg.SystemProgram() {
		return 0, false, nil // SOL may lie at an address where no account is yet
	}
	if len(a.Data) > stateAt && a.Data[stateAt] == frozen {
		a.Data = bytes.Clone(a.Data)
		a.Data[stateAt] = initialized
	}
	t, is := solana.AsToken(a)
	switch {
	case !is:
		return 0, false, errors.New("the token account is none of SPL Token")
	case t.Mint != mint || t.Owner != owner:
		return 0, false, errors.New("the token account is another owner's, or of another token")
	}
	return t.Amount, true, nil
}

// Holdings is what an owner has of SOL and of mints, all read at once.
func (c *Chain) Holdings(ctx context.Context, owner solmsg.Key, mints []solmsg.Key) (lamports uint64, held []uint64,
	err error) {
	if err := c.Ready(ctx); err != nil {
		return 0, nil, err
	}
	keys := []solmsg.Key{owner}
	for _, mint := range mints {
		at, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
		if err != nil {
			return 0, nil, err
		}
		keys = append(keys, at)
	}
	all, err := c.Accounts(ctx, false, keys...)
	if err != nil {
		return 0, nil, err
	}
	held = make([]uint64, len(mints))
	for i, mint := range mints {
		if held[i], _, err = tokens(all[i+1].Account, owner, mint); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", mint, err)
		}
	}
	return all[0].Lamports, held, nil
}

// Receipt implements solana.Chain: what of a transaction its nodes keep is read elsewhere.
func (c *Chain) Receipt(context.Context, string) (solana.Receipt, bool, error) {
	return solana.Receipt{}, false, nil
}

// Seal implements solana.Chain.
func (c *Chain) Seal(context.Context, solana.SealRequest) ([]solana.Receipt, error) {
	return nil, errors.New("blocks of a chain of others are made by others")
}

// Simulate implements solana.Chain, of one transaction after the other, each on the newest state.
func (c *Chain) Simulate(ctx context.Context, _ uint64, unsigned bool, txs ...solana.Tx) ([]solana.Receipt, error) {
	if err := c.Ready(ctx); err != nil {
		return nil, err
	}
	out := make([]solana.Receipt, len(txs))
	for i, tx := range txs {
		var got struct {
			Value struct {
				Err           json.RawMessage `json:"err"`
				Logs          []string        `json:"logs"`
				UnitsConsumed uint64          `json:"unitsConsumed"`
			} `json:"value"`
		}
		err := c.Pool.Call(ctx, &got, "simulateTransaction", base64.StdEncoding.EncodeToString(Wire(tx)),
			simulation{config{Confirmed, "base64"}, !unsigned})
		if err != nil {
			return nil, err
		}
		f, err := readFault(got.Value.Err)
		if err != nil {
			return nil, fmt.Errorf("simulateTransaction: %w", err)
		}
		if refused := refusal(f); refused != nil {
			return nil, &solana.TxError{Index: i, Err: refused}
		}
		out[i] = outcome(f)
		out[i].Logs, out[i].Units = got.Value.Logs, got.Value.UnitsConsumed
	}
	return out, nil
}

type simulation struct {
	config
	SigVerify bool `json:"sigVerify"`
}

// outcome is the receipt of a transaction that ended with a fault, or without one.
func outcome(f *solana.Fault) solana.Receipt {
	r := solana.Receipt{Success: f == nil, Fault: f, Instruction: -1}
	if f != nil {
		r.Error = words(*f)
		if f.Kind == solana.FaultInstruction {
			r.Instruction = f.Index
		}
	}
	return r
}

// words is the runtime's text, or its name for a fault that has none here.
func words(f solana.Fault) string {
	switch s := f.String(); {
	case s == "":
		return f.Kind
	case strings.HasSuffix(s, ": "):
		return s + f.Instruction
	default:
		return s
	}
}

// refusal is why a transaction could not be included at all, nil when it could.
func refusal(f *solana.Fault) error {
	if f == nil {
		return nil
	}
	return map[string]error{"BlockhashNotFound": solana.ErrBlockhash, "AlreadyProcessed": solana.ErrProcessed,
		"SignatureFailure": solana.ErrSignature, "SanitizeFailure": solana.ErrMessage,
		"AccountNotFound": solana.ErrPayer, "InsufficientFundsForFee": solana.ErrPayer,
		"InvalidAccountForFee": solana.ErrPayer, "AddressLookupTableNotFound": solana.ErrLookup}[f.Kind]
}

// Wire is a transaction as it is sent: its signatures and its message.
func Wire(tx solana.Tx) []byte {
	out := []byte{byte(len(tx.Signatures))}
	for _, s := range tx.Signatures {
		out = append(out, s[:]...)
	}
	return append(out, tx.Message...)
}

// maxName bounds a name of the runtime, in characters.
const maxName = 64

// readFault reads the error of a transaction as nodes encode it: a name, or one name with what it is about. Null is
// none.
func readFault(raw json.RawMessage) (*solana.Fault, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return &solana.Fault{Kind: text.Clean(name, maxName)}, nil
	}
	var about map[string]json.RawMessage
	if json.Unmarshal(raw, &about) != nil || len(about) != 1 {
		return nil, errForm
	}
	f := &solana.Fault{}
	for kind, what := range about {
		f.Kind = text.Clean(kind, maxName)
		if kind == solana.FaultInstruction {
			return f, readInstruction(what, f)
		}
		var account struct {
			Index int `json:"account_index"`
		}
		if json.Unmarshal(what, &f.Index) != nil && json.Unmarshal(what, &account) == nil {
			f.Index = account.Index
		}
	}
	return f, nil
}

func readInstruction(raw json.RawMessage, f *solana.Fault) error {
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[0], &f.Index) != nil || f.Index < 0 {
		return errForm
	}
	if json.Unmarshal(pair[1], &f.Instruction) == nil {
		f.Instruction = text.Clean(f.Instruction, maxName)
		return nil
	}
	var custom map[string]json.RawMessage
	if json.Unmarshal(pair[1], &custom) != nil || len(custom) != 1 {
		return errForm
	}
	for name, code := range custom {
		f.Instruction = text.Clean(name, maxName)
		if name == solana.FaultCustom && json.Unmarshal(code, &f.Code) != nil {
			return errForm
		}
	}
	return nil
}
