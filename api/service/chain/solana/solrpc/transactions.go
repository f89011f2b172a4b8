package solrpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/jsonrpc"
)

// unpack reads bytes that are no longer than a packet.
func unpack(text, encoding, what string) ([]byte, error) {
	most := base64.StdEncoding.EncodedLen(solmsg.MaxSize)
	if encoding == asBase58 {
		most = 1683
	}
	if len(text) > most {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s encoded %s too large: %d bytes (max: encoded/raw "+
			"%d/%d)", encoding, what, len(text), most, solmsg.MaxSize)
	}
	var raw []byte
	var err error
	switch encoding {
	case asBase58:
		raw, err = solmsg.FromBase58(text)
	case asBase64:
		raw, err = base64.StdEncoding.DecodeString(text)
	default:
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unsupported encoding: %s. Supported encodings: base58, "+
			"base64", encoding)
	}
	if err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid %s encoding: %v", encoding, err)
	}
	if len(raw) > solmsg.MaxSize {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "decoded %s too large: %d bytes (max: %d bytes)", what,
			len(raw), solmsg.MaxSize)
	}
	return raw, nil
}

// readTransaction reads the transaction that is the first parameter of a call.
func readTransaction(p jsonrpc.Params, encoding string) (ledger.Tx, solmsg.Message, error) {
	var text string
	if err := p.Read(0, &text); err != nil {
		return ledger.Tx{}, solmsg.Message{}, err
	}
	if encoding == "" {
		encoding = asBase58
	}
	const what = "solana_transaction::versioned::VersionedTransaction"
	raw, err := unpack(text, encoding, what)
	if err != nil {
		return ledger.Tx{}, solmsg.Message{}, err
	}
	refuse := func(why string) (ledger.Tx, solmsg.Message, error) {
		return ledger.Tx{}, solmsg.Message{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "failed to deserialize %s: %s",
			what, why)
	}
	// More signatures than a byte counts do not fit a packet.
	if len(raw) == 0 || raw[0] > 127 || len(raw) < 1+64*int(raw[0]) {
		return refuse("io error: unexpected end of file")
	}
	tx := ledger.Tx{Message: raw[1+64*int(raw[0]):]}
	for i := range int(raw[0]) {
		tx.Signatures = append(tx.Signatures, [64]byte(raw[1+64*i:]))
	}
	m, err := solmsg.Parse(tx.Message)
	if err != nil {
		return refuse(err.Error())
	}
	if len(tx.Signatures) != len(m.Signers()) {
		return ledger.Tx{}, m, jsonrpc.Errorf(jsonrpc.CodeInvalidParams,
			"invalid transaction: Transaction failed to sanitize accounts offsets correctly")
	}
	return tx, m, nil
}

// verify checks all signatures.
func verify(tx ledger.Tx, m solmsg.Message) error {
	for i, k := range m.Signers() {
		if !m.Verify(k, tx.Signatures[i]) {
			return jsonrpc.Errorf(codeSignature, "Transaction signature verification failure")
		}
	}
	return nil
}

// send includes a transaction. With preflight it is included only when it succeeds, which one run decides. Without, it
// may fail for its fee, and one that cannot be included vanishes, as on a node.
func (n *node) send(ctx context.Context, p jsonrpc.Params) (any, error) {
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	tx, m, err := readTransaction(p, c.Encoding)
	if err != nil {
		return nil, err
	}
	name := solmsg.FormatSignature(tx.Signatures[0])
	req := ledger.SealRequest{Time: n.now(), Txs: []ledger.Tx{tx}}
	var failed *ledger.Receipt
	if !c.SkipPreflight {
		if err := verify(tx, m); err != nil {
			return nil, err
		}
		req.Accept = func(rs []ledger.Receipt) error {
			failed = &rs[0]
			return ledger.AllSucceed(rs)
		}
	}
	_, err = n.ledger.Seal(ctx, req)
	var refused *ledger.TxError
	switch {
	case err == nil || errors.As(err, &refused) && c.SkipPreflight:
		return name, nil
	case refused != nil:
		f, _ := ledger.FaultOf(refused)
		return nil, preflight(f, simulation{Err: fault(&f), Logs: []string{}})
	case errors.Is(err, ledger.ErrNotAccepted):
		return nil, preflight(*failed.Fault, outcome(*failed, m))
	}
	return nil, err
}

// preflight is the error for a transaction that would not succeed.
func preflight(f ledger.Fault, s simulation) error {
	return &jsonrpc.Error{Code: codePreflight, Message: "Transaction simulation failed: " + f.String(), Data: s}
}

// simulation is what a transaction would do.
type simulation struct {
	Err                  any        `json:"err"`
	Logs                 []string   `json:"logs"`
	Accounts             any        `json:"accounts"`
	UnitsConsumed        uint64     `json:"unitsConsumed"`
	ReturnData           any        `json:"returnData"`
	InnerInstructions    any        `json:"innerInstructions"`
	ReplacementBlockhash *blockhash `json:"replacementBlockhash"`
}

func outcome(r ledger.Receipt, m solmsg.Message) simulation {
	units := solmsg.Units(m.Instructions)
	for _, ix := range m.Instructions {
		if limit, ok := solmsg.DecodeComputeUnitLimit(ix.Data); ok && ix.Program == solmsg.ComputeBudgetProgram() {
			units = min(units, uint64(limit))
		}
	}
	return simulation{Err: fault(r.Fault), Logs: r.Logs, UnitsConsumed: units}
}

// fault is an error as nodes encode it.
func fault(f *ledger.Fault) any {
	switch {
	case f == nil:
		return nil
	case f.Kind == ledger.FaultInstruction && f.Instruction == ledger.FaultCustom:
		return map[string]any{f.Kind: []any{f.Index, map[string]uint32{f.Instruction: f.Code}}}
	case f.Kind == ledger.FaultInstruction:
		return map[string]any{f.Kind: []any{f.Index, f.Instruction}}
	case f.Kind == ledger.FaultDuplicate:
		return map[string]any{f.Kind: f.Index}
	case f.Kind == ledger.FaultRent:
		return map[string]any{f.Kind: map[string]int{"account_index": f.Index}}
	}
	return f.Kind
}

// failure is the error of a sealed transaction, nil when it succeeded.
func failure(r ledger.Receipt) any {
	if !r.Success && r.Fault == nil {
		return fault(&ledger.Fault{Kind: ledger.FaultInstruction, Index: max(0, r.Instruction),
			Instruction: "GenericError"})
	}
	return fault(r.Fault)
}

func (n *node) simulate(ctx context.Context, p jsonrpc.Params) (any, error) {
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	if c.SigVerify && c.ReplaceRecentBlockhash {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "sigVerify may not be used with replaceRecentBlockhash")
	}
	tx, m, err := readTransaction(p, c.Encoding)
	if err != nil {
		return nil, err
	}
	if c.SigVerify {
		if err := verify(tx, m); err != nil {
			return nil, err
		}
	}
	trial := ledger.Trial{Time: n.now(), Tx: tx, Unsigned: !c.SigVerify}
	if w := c.Accounts; w != nil {
		if w.Encoding == asBase58 {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "base58 encoding not supported")
		}
		if len(w.Addresses) > len(m.Keys) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Too many accounts provided; max %d", len(m.Keys))
		}
		if trial.Accounts, err = parseKeys(w.Addresses); err != nil {
			return nil, err
		}
	}
	var replaced *blockhash
	if c.ReplaceRecentBlockhash {
		replaced = new(n.recent())
		if trial.Tx.Message, err = withBlockhash(m, replaced.Blockhash); err != nil {
			return nil, err
		}
	}
	r, after, err := n.ledger.Try(ctx, trial)
	out := simulation{Logs: []string{}}
	var refused *ledger.TxError
	switch {
	case errors.As(err, &refused):
		f, _ := ledger.FaultOf(refused)
		out.Err = fault(&f)
	case err != nil:
		return nil, err
	default:
		out = outcome(r, m)
		if c.InnerInstructions {
			out.InnerInstructions = inner(r, m, asJSON)
		}
	}
	out.ReplacementBlockhash = replaced
	if c.Accounts != nil {
		if out.Accounts, err = n.simulated(ctx, c, trial.Accounts, after, out.Err == nil); err != nil {
			return nil, err
		}
	}
	return n.answer(out), nil
}

// simulated encodes accounts as a simulation leaves them; there are none when it failed.
func (n *node) simulated(ctx context.Context, c config, keys []solmsg.Key, after []ledger.Account, ok bool) (
	any, error) {
	out := make([]*accountJSON, len(keys))
	if !ok {
		return out, nil
	}
	encoding := c.Accounts.Encoding
	if encoding == "" {
		encoding = asBase64
	}
	return out, n.read(ctx, func(st ledger.State) (err error) {
		for i, k := range keys {
			if out[i], err = encode(st, k, after[i], encoding, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// withBlockhash is a message with another block hash.
func withBlockhash(m solmsg.Message, hash string) ([]byte, error) {
	k, err := parseKey(hash)
	if err != nil {
		return nil, err
	}
	raw := m.Bytes()
	last := m.Keys[len(m.Keys)-1]
	// The hash follows the last key, and no key is in the message twice.
	at := bytes.Index(raw, append(bytes.Clone(last[:]), m.Blockhash[:]...))
	copy(raw[at+len(last):], k[:])
	return raw, nil
}

// maxStatuses is how many signatures a call may ask for.
const maxStatuses = 256

// status is what became of a transaction.
type status struct {
	Slot               uint64         `json:"slot"`
	Confirmations      *uint64        `json:"confirmations"` // null is final
	Err                any            `json:"err"`
	Status             map[string]any `json:"status"`
	ConfirmationStatus string         `json:"confirmationStatus"`
}

const finalized = "finalized"

func (n *node) statuses(ctx context.Context, p jsonrpc.Params) (any, error) {
	var sigs []string
	if err := p.Read(0, &sigs); err != nil {
		return nil, err
	}
	if len(sigs) > maxStatuses {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Too many inputs provided; max %d", maxStatuses)
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	out := make([]*status, len(sigs))
	for i, s := range sigs {
		if _, err := parseSignature(s); err != nil {
			return nil, err
		}
		r, found, err := n.ledger.Receipt(ctx, s)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		out[i] = &status{Slot: r.Slot, Err: failure(r), Status: result(r), ConfirmationStatus: finalized}
	}
	return n.answer(out), nil
}

// result is the older form of an outcome.
func result(r ledger.Receipt) map[string]any {
	if err := failure(r); err != nil {
		return map[string]any{"Err": err}
	}
	return map[string]any{"Ok": nil}
}

// below refuses a commitment that a method does not serve.
func below(c config) error {
	if c.Commitment == "processed" {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Method does not support commitment below `confirmed`")
	}
	return nil
}

// entry is a transaction of an account.
type entry struct {
	Signature          string  `json:"signature"`
	Slot               uint64  `json:"slot"`
	Err                any     `json:"err"`
	Memo               *string `json:"memo"`
	BlockTime          uint64  `json:"blockTime"`
	ConfirmationStatus string  `json:"confirmationStatus"`
}

// maxEntries is how many transactions of an account a call lists.
const maxEntries = 1000

func (n *node) signatures(ctx context.Context, p jsonrpc.Params) (any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	if err := below(c); err != nil {
		return nil, err
	}
	most := maxEntries
	if c.Limit != nil {
		most = *c.Limit
	}
	if most < 1 || most > maxEntries {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid limit; max %d", maxEntries)
	}
	before, err := n.bound(ctx, c.Before)
	if err != nil {
		return nil, err
	}
	until, err := n.bound(ctx, c.Until)
	if err != nil {
		return nil, err
	}
	out := []entry{}
	if c.Before != "" && before == nil {
		return out, nil
	}
	all, err := n.ledger.History(k, before, until, most)
	for _, r := range all {
		m, err := solmsg.Parse(r.Message)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{r.Signature, r.Slot, failure(r), memo(m), r.Time, finalized})
	}
	return out, err
}

// bound reads a signature that limits a list, nil when the ledger does not have it.
func (n *node) bound(ctx context.Context, s string) (*[64]byte, error) {
	if s == "" {
		return nil, nil
	}
	sig, err := parseSignature(s)
	if err != nil {
		return nil, err
	}
	_, found, err := n.ledger.Receipt(ctx, s)
	if err != nil || !found {
		return nil, err
	}
	return &sig, nil
}

// memo is the memos of a message with their lengths, nil when it has none.
func memo(m solmsg.Message) *string {
	var all []string
	for _, ix := range m.Instructions {
		if text, ok := solmsg.DecodeMemo(ix.Data); ok && ix.Program == solmsg.MemoProgram() {
			all = append(all, fmt.Sprintf("[%d] %s", len(ix.Data), text))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return new(strings.Join(all, "; "))
}

func (n *node) airdrop(ctx context.Context, p jsonrpc.Params) (any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if err := p.Read(1, &lamports); err != nil {
		return nil, err
	}
	if _, err := n.config(p, 2); err != nil {
		return nil, err
	}
	name, err := n.Airdrop(ctx, k, lamports)
	if err != nil {
		return nil, jsonrpc.Errorf(codeInternal, "airdrop request failed: %w", err)
	}
	return name, nil
}
