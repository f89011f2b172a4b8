package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// answers is one run through the real service, kept under testdata/golden: what was asked, what was answered, and what
// the account signed in between.
type answers struct {
	t      testing.TB
	name   string
	now    time.Time
	draft  intent.Draft
	rules  api.Rules
	policy verify.Policy
	seen   verify.History
	signed *verify.SignedPrepared // of a call
	quote  api.Quote              // of either version, for changes
	again  *api.ChainOperation    // the prepared operation in a quote of v1
	doc    *api.Document
	lie    func(t *escrow.Terms) // what the deposits say instead of the truth
}

// answer reads one of the runs. The quote can be changed; what is judged is what judge encodes of it.
func answer(t testing.TB, name string) *answers {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	need(t, err)
	var f struct {
		Now             int64
		Intent, Network json.RawMessage
		Prepared, Quote string
		Signatures      *struct {
			Operation  string
			Delegation *api.DelegationSignature
		}
	}
	need(t, json.Unmarshal(raw, &f))
	n, err := network.Decode(f.Network)
	need(t, err)
	c, err := catalog.Load()
	need(t, err)
	a := &answers{t: t, name: name, now: time.Unix(f.Now, 0), rules: api.Rules{Catalog: c, Now: time.Unix(f.Now, 0)},
		policy: verify.DefaultPolicy(n, c), seen: verify.NoHistory{}}
	a.draft, err = intent.ParseDraft(f.Intent)
	need(t, err)
	if f.Signatures != nil {
		p, r := verify.Prepared(a.intent(), a.policy, a.seen, a.now, parseText(t, f.Prepared))
		if p == nil {
			t.Fatalf("%s: %+v", name, r.Reasons)
		}
		s := verify.Signatures{Operation: common.FromHex(f.Signatures.Operation)}
		if f.Signatures.Delegation != nil {
			d, err := op.AuthorizationFromWire(*f.Signatures.Delegation)
			need(t, err)
			s.Delegation = &d
		}
		a.signed, err = p.WithSignatures(s)
		need(t, err)
	}
	a.doc = parseText(t, f.Quote)
	need(t, a.doc.Decode(&a.quote))
	if a.draft.Interface == intent.InterfaceV1 {
		var one api.QuoteV1
		need(t, a.doc.Decode(&one))
		a.quote.Accounts, a.again = []api.Account{one.Account}, one.DestinationChainOperation
	}
	return a
}

func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parseText(t testing.TB, text string) *api.Document {
	t.Helper()
	d, err := api.ParseDocument([]byte(text), api.DefaultLimits())
	need(t, err)
	return d
}

func (a *answers) intent() intent.Intent {
	a.t.Helper()
	in, err := intent.Freeze(a.draft, a.rules)
	need(a.t, err)
	return in
}

// judge judges a document under the run's intent.
func (a *answers) judge(doc *api.Document) (*verify.VerifiedQuote, verify.Report) {
	a.t.Helper()
	if a.signed != nil {
		return verify.Quote(a.intent(), a.policy, a.seen, a.now, a.signed, doc)
	}
	return verify.Exchange(a.intent(), a.policy, a.seen, a.now, doc)
}

// agree writes terms into the deposits of an exchange that say what the quote says, or the lie.
func (a *answers) agree() {
	a.t.Helper()
	d := a.quote.DestinationToken
	asset, err := caip.ParseAsset(d.AssetType)
	to, err2 := caip.ParseAccount(d.RecipientAccount)
	least, err3 := amount.ParseBase(d.MinimumAmount)
	if errors.Join(err, err2, err3) != nil || a.signed != nil {
		return
	}
	for i, o := range a.quote.OriginChainsOperations {
		calls, deposit, terms, ok := depositOf(o)
		if !ok {
			continue
		}
		terms.TargetChain, _ = asset.Chain.EVMID()
		terms.Minimums = []escrow.Minimum{{Token: asset.Word(), To: to.Word(), Amount: least}}
		if a.lie != nil {
			a.lie(&terms)
		}
		last := &calls[len(calls)-1]
		again := escrow.DepositCalldata(deposit, terms)
		if bytes.Equal(again, last.Data) {
			continue // whatever else a test changed stays
		}
		last.Data = again
		data, err := op.EncodeExecute(calls)
		need(a.t, err)
		a.userOp(i, func(u *op.UserOp) { u.CallData = data })
	}
}

// depositOf reads the calls of an operation that ends in a deposit.
func depositOf(o api.ChainOperation) ([]op.Call, escrow.Deposit, escrow.Terms, bool) {
	if o.UserOp == nil || o.TypedDataToSign == nil {
		return nil, escrow.Deposit{}, escrow.Terms{}, false
	}
	calls, err := op.DecodeExecute(common.FromHex(o.UserOp.CallData))
	if err != nil {
		return nil, escrow.Deposit{}, escrow.Terms{}, false
	}
	d, t, ok := escrow.DecodeDeposit(calls[len(calls)-1].Data)
	return calls, d, t, ok
}

// document encodes the quote as it is now.
func (a *answers) document() *api.Document {
	a.t.Helper()
	a.agree()
	var form any = a.quote
	if q := a.quote; a.draft.Interface == intent.InterfaceV1 {
		form = api.QuoteV1{
			ID: q.ID, Account: q.Accounts[0], OriginChainsOperations: q.OriginChainsOperations,
			OriginToken: q.OriginToken, DestinationToken: q.DestinationToken,
			ExpirationTimestamp: q.ExpirationTimestamp, TamperProofSignature: q.TamperProofSignature,
			DestinationChainOperation: a.again,
		}
	}
	d, err := api.Encode(form)
	need(a.t, err)
	return d
}

// passes demands that the quote passes as it is now.
func (a *answers) passes() verify.QuoteView {
	a.t.Helper()
	q, r := a.judge(a.document())
	if q == nil {
		a.t.Fatalf("%s refused: %+v", a.name, r.Reasons)
	}
	return q.View()
}

// refuses demands that the quote is refused by the row of this code.
func (a *answers) refuses(code string) {
	a.t.Helper()
	q, r := a.judge(a.document())
	refused(a.t.(*testing.T), q != nil, r, code)
}

// eachRefused judges copies of a run, each changed in one way, and demands that each is refused by the row of this
// code.
func eachRefused(t *testing.T, name, code string, changes map[string]func(a *answers)) {
	t.Helper()
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			a := answer(t, name)
			change(a)
			a.refuses(code)
		})
	}
}

func answerNames(t testing.TB, keep func(name string) bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	need(t, err)
	var out []string
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); keep(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func isExchange(name string) bool {
	return strings.Contains(name, "-swap") || strings.Contains(name, "-transfer")
}

// userOp changes the user operation of an entry; its typed data stays about it.
func (a *answers) userOp(i int, change func(u *op.UserOp)) {
	a.t.Helper()
	o := &a.quote.OriginChainsOperations[i]
	u, err := op.FromWire(*o.UserOp)
	need(a.t, err)
	change(&u)
	wire := u.Wire()
	o.UserOp = &wire
	o.TypedDataToSign.Message.CallDataAndNonceHash = op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce).Hex()
}

// pays makes an entry pay another amount, in every place that names it.
func (a *answers) pays(i int, v *big.Int) {
	a.t.Helper()
	o := &a.quote.OriginChainsOperations[i]
	asset, err := caip.ParseAsset(o.AssetType)
	need(a.t, err)
	at := a.policy.Network.Pins.Escrow
	token, isToken := asset.Token()
	_, _, terms, ok := depositOf(*o)
	if !ok {
		a.t.Fatalf("%s: entry %d carries no terms", a.name, i)
	}
	value := new(big.Int)
	var calls []op.Call
	if isToken {
		calls = append(calls, op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(at, v)})
	} else {
		value.Set(v)
	}
	calls = append(calls, op.Call{To: at, Value: value,
		Data: escrow.DepositCalldata(escrow.Deposit{QuoteID: [32]byte(common.FromHex(a.quote.ID)), Token: token,
			Amount: v, RefundDeadline: uint64(a.now.Unix()) + 3600}, terms)})
	data, err := op.EncodeExecute(calls)
	need(a.t, err)
	a.userOp(i, func(u *op.UserOp) { u.CallData = data })
	o.Amount = v.String()
}
