package verify_test

import (
	"encoding/hex"
	"math/big"
	"math/rand"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/solmsg"
)

// forged is a golden document in the hands of a service that lies: it takes the document apart, changes what it likes,
// and writes it again so that every derived value agrees. It shares no code with the verifier.
type forged struct {
	t     testing.TB
	s     *specimen
	r     *rand.Rand
	prep  *api.PrepareResponse
	prep1 *api.PrepareResponseV1
	quote *api.Quote
	v1    *api.QuoteV1
}

func forge(t testing.TB, s *specimen, r *rand.Rand) *forged {
	t.Helper()
	f := &forged{t: t, s: s, r: r}
	var into any
	switch {
	case s.prepared && s.v1:
		f.prep1 = new(api.PrepareResponseV1)
		into = f.prep1
	case s.prepared:
		f.prep = new(api.PrepareResponse)
		into = f.prep
	case s.v1:
		f.v1 = new(api.QuoteV1)
		into = f.v1
	default:
		f.quote = new(api.Quote)
		into = f.quote
	}
	if err := s.base.Decode(into); err != nil {
		t.Fatal(err)
	}
	return f
}

// document writes what was forged.
func (f *forged) document() *api.Document {
	f.t.Helper()
	var v any
	switch {
	case f.prep != nil:
		v = f.prep
	case f.prep1 != nil:
		v = f.prep1
	case f.quote != nil:
		v = f.quote
	default:
		v = f.v1
	}
	d, err := api.Encode(v)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// operations are all operations, the second copy of a prepared one among them.
func (f *forged) operations() []*api.ChainOperation {
	switch {
	case f.prep != nil:
		return []*api.ChainOperation{&f.prep.ChainOperation}
	case f.prep1 != nil:
		return []*api.ChainOperation{&f.prep1.ChainOperation}
	}
	list := f.list()
	var out []*api.ChainOperation
	for i := range *list {
		out = append(out, &(*list)[i])
	}
	if f.v1 != nil && f.v1.DestinationChainOperation != nil {
		out = append(out, f.v1.DestinationChainOperation)
	}
	return out
}

// list is the list of origin operations of a quote; nil for a prepare answer.
func (f *forged) list() *[]api.ChainOperation {
	switch {
	case f.quote != nil:
		return &f.quote.OriginChainsOperations
	case f.v1 != nil:
		return &f.v1.OriginChainsOperations
	}
	return nil
}

func (f *forged) origin() *api.OriginToken {
	switch {
	case f.quote != nil:
		return &f.quote.OriginToken
	case f.v1 != nil:
		return &f.v1.OriginToken
	}
	return nil
}

func (f *forged) destination() *api.DestinationToken {
	switch {
	case f.quote != nil:
		return &f.quote.DestinationToken
	case f.v1 != nil:
		return &f.v1.DestinationToken
	}
	return nil
}

func (f *forged) accounts() []*api.Account {
	var list []api.Account
	switch {
	case f.prep != nil:
		list = f.prep.Accounts
	case f.quote != nil:
		list = f.quote.Accounts
	case f.prep1 != nil:
		return []*api.Account{&f.prep1.Account}
	default:
		return []*api.Account{&f.v1.Account}
	}
	var out []*api.Account
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// id and expiry are the members of a quote; nil for a prepare answer.
func (f *forged) id() *string {
	switch {
	case f.quote != nil:
		return &f.quote.ID
	case f.v1 != nil:
		return &f.v1.ID
	}
	return nil
}

func (f *forged) expiry() *string {
	switch {
	case f.quote != nil:
		return &f.quote.ExpirationTimestamp
	case f.v1 != nil:
		return &f.v1.ExpirationTimestamp
	}
	return nil
}

// anEVM picks one EVM operation; nil when there is none.
func (f *forged) anEVM() *api.ChainOperation { return f.any(f.kind(false)) }

// kind are all EVM operations, or all of Solana.
func (f *forged) kind(solana bool) []*api.ChainOperation {
	var out []*api.ChainOperation
	for _, o := range f.operations() {
		if o.IsSolana() == solana {
			out = append(out, o)
		}
	}
	return out
}

func (f *forged) any(all []*api.ChainOperation) *api.ChainOperation {
	if len(all) == 0 {
		return nil
	}
	return all[f.r.Intn(len(all))]
}

// funded reports whether the document has payments: it is a quote and not one that only repeats the prepared operation.
func (f *forged) funded() bool { return !f.s.prepared && !f.s.sameChain() }

func (f *forged) address() (a common.Address) {
	f.r.Read(a[:])
	return a
}

func (f *forged) key() (k solmsg.Key) {
	f.r.Read(k[:])
	return k
}

// evmForm is an EVM operation taken apart.
type evmForm struct {
	user   op.UserOp
	calls  []op.Call
	domain op.Domain
}

// evm changes an operation; call data and typed data are written again.
func (f *forged) evm(o *api.ChainOperation, change func(e *evmForm)) {
	f.t.Helper()
	f.raw(o, func(e *evmForm) {
		change(e)
		data, err := op.EncodeExecute(e.calls)
		if err != nil {
			f.t.Fatal(err)
		}
		e.user.CallData = data
	})
}

// raw changes an operation whose call data stay as the change leaves them; typed data are written again.
func (f *forged) raw(o *api.ChainOperation, change func(e *evmForm)) {
	f.t.Helper()
	var e evmForm
	var err error
	if e.user, err = op.FromWire(*o.UserOp); err != nil {
		f.t.Fatal(err)
	}
	if e.calls, err = op.DecodeExecute(e.user.CallData); err != nil {
		f.t.Fatal(err)
	}
	if e.domain, _, err = op.CheckTypedData(*o.TypedDataToSign); err != nil {
		f.t.Fatal(err)
	}
	change(&e)
	user, typed := e.user.Wire(), e.domain.ApproveWire(op.CallDataAndNonceHash(e.user.Sender, e.user.CallData,
		e.user.Nonce))
	o.UserOp, o.TypedDataToSign = &user, &typed
}

// nonce changes the parts of an operation's nonce.
func (f *forged) nonce(o *api.ChainOperation, change func(n *op.Nonce)) {
	f.t.Helper()
	f.evm(o, func(e *evmForm) {
		n, err := op.ParseNonce(e.user.Nonce)
		if err != nil {
			f.t.Fatal(err)
		}
		change(&n)
		e.user.Nonce = n.Big()
	})
}

// solanaForm is a Solana operation taken apart.
type solanaForm struct {
	payer, blockhash solmsg.Key
	builds           []solmsg.Build
}

// solana changes a message; the message and the list of instructions beside it are written again. It is false for a
// message that cannot exist.
func (f *forged) solana(o *api.ChainOperation, change func(s *solanaForm)) bool {
	f.t.Helper()
	m, err := solmsg.ParseBase64(o.DataToSign)
	if err != nil {
		f.t.Fatal(err)
	}
	s := solanaForm{payer: m.FeePayer(), blockhash: m.Blockhash}
	for _, in := range m.Instructions {
		b := solmsg.Build{Program: in.Program, Data: in.Data}
		for _, a := range in.Accounts {
			b.Accounts = append(b.Accounts, solmsg.Meta{Key: a.Key, Signer: a.Signer, Writable: a.Writable})
		}
		s.builds = append(s.builds, b)
	}
	change(&s)
	if m, err = solmsg.Compose(s.payer, s.blockhash, s.builds...); err != nil {
		return false
	}
	o.Instructions = nil
	for _, in := range m.Instructions {
		line := api.SolanaInstruction{Keys: []api.SolanaKey{}, ProgramID: in.Program.String(),
			Data: hex.EncodeToString(in.Data)}
		for _, a := range in.Accounts {
			line.Keys = append(line.Keys, api.SolanaKey{Pubkey: a.Key.String(), IsSigner: a.Signer,
				IsWritable: a.Writable})
		}
		o.Instructions = append(o.Instructions, line)
	}
	o.DataToSign, o.FeePayer, o.RecentBlockHash = m.Base64(), m.FeePayer().String(), m.Blockhash.String()
	return true
}

// chain is the EVM chain of an operation, as its typed data say.
func chain(o *api.ChainOperation) uint64 { return o.TypedDataToSign.Domain.ChainID }

// asset reads an asset of the document.
func (f *forged) asset(s string) caip.Asset {
	f.t.Helper()
	a, err := caip.ParseAsset(s)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// sibling is another entity of an asset's aggregate on another EVM chain, and false when there is none.
func (f *forged) sibling(a caip.Asset) (caip.Asset, bool) {
	e, ok := f.s.policy.Catalog.Entity(a)
	if !ok {
		return a, false
	}
	agg, _ := f.s.policy.Catalog.Aggregate(e.Aggregate)
	for _, i := range f.r.Perm(len(agg.Entities)) {
		other := agg.Entities[i].Asset
		if _, evm := other.Chain.EVMID(); evm && other.Chain != a.Chain {
			return other, true
		}
	}
	return a, false
}

// plus is a sum of amounts in text.
func plus(s string, v *big.Int) string { return new(big.Int).Add(bigOf(s), v).String() }
