package quote_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	. "coffer/api/service/settle/settletest"
)

// v1 is a v3 prepare request in the v1 form, without the type of a role-based account.
func v1(r api.PrepareRequest) api.PrepareRequestV1 {
	a := r.Accounts[0]
	if a.Type == api.AccountRoleBased {
		a.Type = ""
	}
	return api.PrepareRequestV1{
		Account: a, TargetChain: r.TargetChain, Calls: r.Calls,
		TokensRequired:        append([]api.TokenRequirement{}, r.TokensRequired...),
		AllowanceRequirements: r.AllowanceRequirements, Overrides: r.Overrides, ValidAfter: r.ValidAfter,
		ValidUntil:        r.ValidUntil,
		SlippageTolerance: r.SlippageTolerance,
	}
}

// member is a raw member of a document.
func member(w *World, doc *api.Document, at string) json.RawMessage {
	w.TB.Helper()
	raw, ok := doc.At(at)
	if !ok {
		w.TB.Fatalf("no %s", at)
	}
	return raw
}

// bodyV1 is the body of v1 call-quote for a document of v1 prepare, signed by the world's user.
func bodyV1(w *World, prepared *api.Document, from string) *api.Document {
	w.TB.Helper()
	signed := w.SignOperationAs(w.User, prepared, "/chainOperation")
	body := map[string]any{
		"account": member(w, signed, "/account"), "chainOperation": member(w, signed, "/chainOperation"),
		"tamperProofSignature": member(w, signed, "/tamperProofSignature"),
	}
	if from != "" {
		body["fromAggregatedAssetId"] = from
	}
	return w.Encode(body)
}

func quoteV1(w *World, prepared *api.Document, from string) (*api.Document, error) {
	return w.Quoter.CallQuoteV1(context.Background(), bodyV1(w, prepared, from))
}

func preparedV1(t *testing.T, w *World, r api.PrepareRequest) (api.PrepareResponseV1, *api.Document) {
	t.Helper()
	doc, err := w.Quoter.PrepareV1(context.Background(), w.Encode(v1(r)))
	Must(t, err)
	var p api.PrepareResponseV1
	Must(t, doc.Decode(&p))
	return p, doc
}

func decodeV1(t *testing.T, doc *api.Document) api.QuoteV1 {
	t.Helper()
	var q api.QuoteV1
	Must(t, doc.Decode(&q))
	return q
}

// as makes a user of a kind the world's, with the given USDC.
func as(w *World, kind string, n uint64, usdc map[uint64]int64) *World {
	w.User = NewUserOf(w.Installation.Pins, kind, n)
	for chainID, v := range usdc {
		if chainID == Solana {
			w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), v*usdcPlain)
		} else {
			w.Fund(w.User.Address, w.Asset("usdc", chainID), v*usdcPlain)
		}
	}
	return w
}

func TestV1AnswersCarryTheTypeThatTheRequestLeftOut(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 5, map[uint64]int64{Base: 25, Arbitrum: 300})
	p, doc := preparedV1(t, w, pay(w, Base, 200*usdcPlain))
	if p.Account.Type != api.AccountRoleBased || p.Account.AccountAddress != w.User.Account.AccountAddress {
		t.Errorf("%+v", p.Account)
	}
	if names, _ := doc.Members(""); strings.Join(names,
		" ") != "account chainOperation tamperProofSignature callType sourceAssetBalances" {
		t.Error(names)
	}
	quoted, err := quoteV1(w, doc, "ob:usdc")
	Must(t, err)
	if q := decodeV1(t, quoted); q.Account.Type != api.AccountRoleBased {
		t.Errorf("%+v", q.Account)
	}
}

func TestV1FundedCallShowsThePreparedOperationAsTheDestinations(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 5, map[uint64]int64{Base: 25, Arbitrum: 300})
	p, doc := preparedV1(t, w, pay(w, Base, 200*usdcPlain))
	quoted, err := quoteV1(w, doc, "ob:usdc")
	Must(t, err)
	q := decodeV1(t, quoted)
	if q.DestinationChainOperation == nil || *q.DestinationChainOperation.UserOp != *p.ChainOperation.UserOp ||
		q.DestinationChainOperation.UserOp.Signature != "0x" {
		t.Errorf("%+v", q.DestinationChainOperation)
	}
	if len(q.OriginChainsOperations) != 1 || q.OriginChainsOperations[0].AssetType != w.Asset("usdc",
		Arbitrum).String() {
		t.Errorf("%+v", q.OriginChainsOperations)
	}
	names, _ := quoted.Members("")
	for _, n := range names {
		if n == "accounts" || n == "fees" || n == "slippage" {
			t.Errorf("a v1 quote with %s", n)
		}
	}
}

func TestV1CallThatPaysForItselfStandsInOriginAlone(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31, 5, map[uint64]int64{Base: 25})
	p, doc := preparedV1(t, w, pay(w, Base, 20*usdcPlain))
	quoted, err := quoteV1(w, doc, "") // nothing is short, so nothing has to be named
	Must(t, err)
	q := decodeV1(t, quoted)
	if q.DestinationChainOperation != nil || len(q.OriginChainsOperations) != 1 ||
		*q.OriginChainsOperations[0].UserOp != *p.ChainOperation.UserOp {
		t.Errorf("%+v", q)
	}
}

func TestV1NamesThePayingAssetWhenSomethingIsShort(t *testing.T) {
	w := funded(t)
	_, doc := preparedV1(t, w, pay(w, Base, 200*usdcPlain))
	_, err := quoteV1(w, doc, "")
	if e := Refused(t, err, api.ErrValidation); e.Details[0].Path != "fromAggregatedAssetId" ||
		e.Details[0].Got != "nothing" {
		t.Errorf("%+v", e.Details)
	}
}

func TestEitherVersionQuotesWhatTheOtherPrepared(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 5, map[uint64]int64{Base: 25, Arbitrum: 300})
	_, old := preparedV1(t, w, pay(w, Base, 200*usdcPlain))
	signed := w.SignOperationAs(w.User, old, "/chainOperation")
	_, err := w.Quoter.CallQuote(context.Background(), w.Encode(map[string]any{
		"accounts":             []json.RawMessage{member(w, signed, "/account")},
		"chainOperation":       member(w, signed, "/chainOperation"),
		"tamperProofSignature": member(w, signed, "/tamperProofSignature"),
	}))
	Must(t, err)
	_, recent := prepared(t, w, pay(w, Base, 150*usdcPlain))
	signed = w.SignOperationAs(w.User, recent, "/chainOperation")
	account := w.User.Account
	account.Type = "" // as v1 requests may have it
	_, err = w.Quoter.CallQuoteV1(context.Background(), w.Encode(map[string]any{
		"account": account, "chainOperation": member(w, signed, "/chainOperation"),
		"tamperProofSignature": member(w, signed, "/tamperProofSignature"), "fromAggregatedAssetId": "ob:usdc",
	}))
	Must(t, err)
}

func TestV1KnowsNoSolana(t *testing.T) {
	w := funded(t)
	solana := api.Account{Type: api.AccountSolana, AccountAddress: "EB8Hi4LoqUVCGUPJ2y9MsHbEsJQJvmpQRUWrLpjEZxC6"}
	r := v1(pay(w, Base, 20*usdcPlain))
	r.Account = solana
	_, err := w.Quoter.PrepareV1(context.Background(), w.Encode(r))
	Refused(t, err, api.ErrValidation)
	for name, change := range map[string]func(*api.QuoteRequestV1){
		"payer": func(r *api.QuoteRequestV1) { r.From.Account = solana },
		"asset": func(r *api.QuoteRequestV1) { r.To.Asset.AssetID = caip.SOL().String() },
		"recipient": func(r *api.QuoteRequestV1) {
			r.To.Account = caip.SolanaMainnet().String() + ":" + solana.AccountAddress
		},
		"aggregate": func(r *api.QuoteRequestV1) { r.To.Asset.AssetID = "ob:sol" },
	} {
		x := api.QuoteRequestV1{
			From: api.QuoteFromV1{Account: w.User.Account, Asset: api.AssetRef{AssetID: "ob:usdc"}, Amount: "5000000"},
			To:   api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:usdc"}, Account: "eip155:10:" + payee().Hex()},
		}
		change(&x)
		if name == "asset" || name == "aggregate" {
			x.To.Account = ""
		}
		_, err := w.Quoter.QuoteV1(context.Background(), w.Encode(x))
		Refused(t, err, api.ErrValidation)
	}
}

func TestFailuresOfAV1AccountAreAtAccount(t *testing.T) {
	w := funded(t)
	r := v1(pay(w, Base, 20*usdcPlain))
	r.Account.AccountAddress = payee().Hex()
	_, err := w.Quoter.PrepareV1(context.Background(), w.Encode(r))
	if e := Refused(t, err, api.ErrValidation); e.Details[0].Path != "account.accountAddress" {
		t.Errorf("%+v", e.Details)
	}
	x := api.QuoteRequestV1{
		From: api.QuoteFromV1{Account: r.Account, Asset: api.AssetRef{AssetID: "ob:usdc"}, Amount: "5000000"},
		To:   api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:eth"}},
	}
	_, err = w.Quoter.QuoteV1(context.Background(), w.Encode(x))
	if e := Refused(t, err, api.ErrValidation); e.Details[0].Path != "from.account.accountAddress" {
		t.Errorf("%+v", e.Details)
	}
}
