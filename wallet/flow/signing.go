package flow

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/verify"
)

// sign makes every signature of one operation with the verb of its kind, the delegation first: without it the operation
// cannot run. Each is counted and told.
func (o *Operation) sign(ctx context.Context, v verify.Signing, progress func(Event)) (verify.Signatures, error) {
	made := func() {
		s := o.update(func(s *Snapshot) {
			s.SignaturesDone++
			s.Paid = s.Paid || v.Summary().Role == verify.RoleFunding
		})
		progress(Event{Kind: EventSigned, Index: s.SignaturesDone, Chain: v.Summary().Chain, At: o.f.d.Clock()})
	}
	var out verify.Signatures
	if d, asked := v.Delegation(); asked {
		a, err := o.f.d.Signer.SignDelegation(ctx, d)
		if err != nil {
			return out, err
		}
		out.Delegation = &a
		made()
	}
	var err error
	if out.Operation, err = o.signOperation(ctx, v); err != nil {
		return verify.Signatures{}, err
	}
	made()
	return out, nil
}

// dear refuses to sign what could not be sent now, because gas costs more than the user's own cap; where own nodes do
// not say, whoever sends finds out.
func (o *Operation) dear(ctx context.Context, ops ...verify.Signing) error {
	if o.f.d.View == nil {
		return nil
	}
	var chains []uint64
	for _, v := range ops {
		c, err := caip.ParseChain(v.Summary().Chain)
		if id, evm := c.EVMID(); err == nil && evm && !slices.Contains(chains, id) {
			chains = append(chains, id)
		}
	}
	if err := o.f.d.View.Dear(ctx, chains); err != nil {
		return &dearError{err}
	}
	return nil
}

// dearError is ErrDear in the words of the view.
type dearError struct{ why error }

func (e *dearError) Error() string { return e.why.Error() }

func (e *dearError) Unwrap() []error { return []error{ErrDear, e.why} }

func (o *Operation) signOperation(ctx context.Context, v verify.Signing) ([]byte, error) {
	signer := o.f.d.Signer
	if u, is := v.UserOp(); is {
		return signer.SignUserOp(ctx, u)
	}
	if a, is := v.Approve(); is {
		return signer.SignApprove(ctx, a)
	}
	if m, is := v.Message(); is {
		return signer.SignSolana(ctx, m)
	}
	return nil, sign.ErrUnverified
}

// record describes what was signed for the journal.
func signatureRecord(v verify.Signing, made verify.Signatures, quoteID string) journal.Signature {
	s := v.Summary()
	out := journal.Signature{
		Role: s.Role, Kind: s.Kind, Chain: s.Chain, Sender: s.Sender, Lane: s.Lane, Nonce: s.Nonce,
		BlockHash: s.BlockHash, OpHash: v.Hash(), Digest: v.Digest(),
		Signature: hexutil.Encode(made.Operation), ValidUntil: s.ValidUntil, QuoteID: quoteID,
	}
	if c, err := caip.ParseChain(s.Chain); err == nil {
		out.ChainID, _ = c.EVMID()
	}
	if d := made.Delegation; d != nil {
		raw := append(append(slices.Clone(d.R[:]), d.S[:]...), d.YParity+27)
		out.Delegation = &journal.Delegation{
			ChainID: d.ChainID.Uint64(), Contract: d.Address.Hex(), Nonce: d.Nonce, Digest: d.Hash().Hex(),
			Signature: hexutil.Encode(raw),
		}
	}
	out.Spend, out.Counts = spends(s.Spend), spends(s.Counts)
	return out
}

func spends(list []verify.AmountView) []journal.Spend {
	var out []journal.Spend
	for _, a := range list {
		out = append(out, journal.Spend{Asset: a.Asset.String(), Amount: a.Amount.String()})
	}
	return out
}

// restore reads the signatures of a record; whether they are those of the operation is checked by whoever takes them.
func restore(v verify.Signing, s journal.Signature) (verify.Signatures, error) {
	raw, err := unhex(s.Signature)
	if err != nil {
		return verify.Signatures{}, err
	}
	out := verify.Signatures{Operation: raw}
	d, asked := v.Delegation()
	if !asked {
		return out, nil
	}
	if s.Delegation == nil {
		return verify.Signatures{}, errResume
	}
	sig, err := unhex(s.Delegation.Signature)
	if err != nil || len(sig) != 65 {
		return verify.Signatures{}, errResume
	}
	out.Delegation = &op.SignedAuthorization{Authorization: d.Authorization(), R: [32]byte(sig[:32]),
		S: [32]byte(sig[32:64]), YParity: sig[64] - 27}
	return out, nil
}

func unhex(s string) ([]byte, error) { return hex.DecodeString(strings.TrimPrefix(s, "0x")) }

func recipients(v verify.PreparedView) []string {
	var out []string
	for _, l := range v.Lines {
		if l.Recipient != "" && !slices.Contains(out, l.Recipient) {
			out = append(out, l.Recipient)
		}
	}
	return out
}

// callWords is review 1 in short, for the journal: what was decoded from the bytes that were signed (TH-V6).
func callWords(v verify.PreparedView) []string {
	out := []string{fmt.Sprintf("account %s on %s, nonce %s", v.Sender, v.Chain.CAIP, v.Nonce)}
	for _, l := range v.Lines {
		what := l.Function
		if !l.Decoded {
			what = "not decoded: " + l.Data
		}
		var args []string
		for _, a := range l.Args {
			args = append(args, strings.TrimSpace(a.Name+" "+a.Value))
		}
		out = append(out, fmt.Sprintf("%s %d: to %s, value %s, %s (%s)", l.Role, l.Index, l.To, l.Value, what,
			strings.Join(args, ", ")))
	}
	return append(out, delegationWords(v.Delegation)...)
}

// quoteWords is review 2 in short, for the journal.
func quoteWords(v verify.QuoteView) []string {
	out := []string{fmt.Sprintf("%s, quote %s", v.Kind, v.ID)}
	for _, p := range v.Pay {
		out = append(out, "pay "+amountWords(p))
	}
	for _, l := range v.Legs {
		out = append(out, delegationWords(l.Delegation)...)
	}
	return append(out, fmt.Sprintf("receive %s, at least %s, to %s", amountWords(v.Delivered), amountWords(v.Minimum),
		v.Recipient))
}

func delegationWords(d *verify.DelegationView) []string {
	if d == nil {
		return nil
	}
	return []string{fmt.Sprintf("delegate %s to %s on %s, account nonce %d", d.Authority, d.Contract, d.Chain.CAIP,
		d.Nonce)}
}

// amountWords writes an amount in base units of its asset, which never changes its meaning.
func amountWords(a verify.AmountView) string {
	if a.Amount == nil {
		return "an unknown amount"
	}
	return a.Amount.String() + " " + a.Asset.String()
}
