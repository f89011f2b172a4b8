package quote_test

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	. "coffer/api/service/settle/settletest"
)

// scene is a way to pay for a call on Arbitrum that brings about one call type.
type scene struct {
	callType string
	solana   bool // Solana pays
	from     string
	need     int64
	fund     func(*World)
}

func scenes() []scene {
	give := func(symbol string, chainID uint64, v int64) func(*World) {
		return func(w *World) { w.Fund(w.User.Address, w.Asset(symbol, chainID), v) }
	}
	sol := func(symbol string, v int64) func(*World) {
		return func(w *World) { w.FundSolana(w.User.Wallet, w.Asset(symbol, Solana), v) }
	}
	return []scene{
		{api.CallSameChainExcludeSolver, false, "", 20, give("usdc", Arbitrum, 50*usdcPlain)},
		{api.CallSameChainWithSolver, false, "ob:usdt", 20, give("usdt", Arbitrum, 50*usdcPlain)},
		{api.CallCrossChain, false, "", 20, give("usdc", Polygon, 50*usdcPlain)},
		{api.CallCrossChain, true, "ob:usdc", 20, sol("usdc", 50*usdcPlain)},
		{api.CallCrossChainSwaps, false, "ob:eth", 20, give("eth", Linea, 1e17)},
		{api.CallCrossChainSwaps, true, "ob:sol", 20, sol("sol", 2e9)},
		{api.CallCrossChain, true, "ob:usdc", 60, func(w *World) {
			give("usdc", Polygon, 50*usdcPlain)(w)
			sol("usdc", 40*usdcPlain)(w)
		}},
	}
}

func evmKinds() []string {
	var out []string
	for _, k := range Kinds() {
		if k != api.AccountSolana {
			out = append(out, k)
		}
	}
	return out
}

func TestEveryCallTypeForEveryKindOfAccount(t *testing.T) {
	for n, kind := range evmKinds() {
		withSolana := strings.HasSuffix(kind, WithSolana)
		for i, s := range scenes() {
			if s.solana && !withSolana {
				continue
			}
			t.Run(kind+"/"+s.callType+"/"+strconv.Itoa(i), func(t *testing.T) {
				w := New(t, Options{})
				w.User = NewUserOf(w.Installation.Pins, kind, uint64(n+20))
				s.fund(w)
				r := pay(w, Arbitrum, s.need*usdcPlain)
				r.FromAssetID = s.from
				p, doc := prepared(t, w, r)
				if p.CallType != s.callType {
					t.Fatalf("prepared as %s", p.CallType)
				}
				quoted, err := callQuoteAs(w, doc)
				Must(t, err)
				q := w.Decode(quoted)
				checkOperations(t, w, p, q, kind)
				checkNumbers(t, doc)
				checkNumbers(t, quoted)
			})
		}
	}
}

// callQuoteAs signs a prepared operation with whatever keys the user has and asks for a quote.
func callQuoteAs(w *World, prepared *api.Document) (*api.Document, error) {
	w.TB.Helper()
	signed := w.SignOperationAs(w.User, prepared, "/chainOperation")
	return w.Quoter.CallQuote(context.Background(), w.Encode(map[string]json.RawMessage{
		"accounts": member(w, signed, "/accounts"), "chainOperation": member(w, signed, "/chainOperation"),
		"tamperProofSignature": member(w, signed, "/tamperProofSignature"),
	}))
}

// checkOperations compares what gets signed with what the kind of account demands, undeployed everywhere.
func checkOperations(t *testing.T, w *World, p api.PrepareResponse, q api.Quote, kind string) {
	t.Helper()
	delegated := strings.HasPrefix(kind, api.AccountKernelV33)
	check := func(where string, o api.ChainOperation, lane uint16, factory bool) {
		u := userOp(t, o)
		if len(u.Signature) != 0 {
			t.Errorf("%s is signed", where)
		}
		if (u.Factory != nil) != (factory && !delegated) {
			t.Errorf("%s carries a factory: %t", where, u.Factory != nil)
		}
		if (o.Delegation != nil) != delegated {
			t.Errorf("%s asks for a delegation: %t", where, o.Delegation != nil)
		} else if delegated && (o.Delegation.Signature != nil || o.Delegation.Nonce != 0 ||
			common.HexToAddress(o.Delegation.ContractAddress) != w.Installation.Pins.KernelV33) {
			t.Errorf("%s: %+v", where, o.Delegation)
		}
		n, err := op.ParseNonce(u.Nonce)
		Must(t, err)
		if n.Key != lane {
			t.Errorf("%s is in lane %d", where, n.Key)
		}
	}
	check("the prepared operation", p.ChainOperation, op.LanePrepared, true)
	if p.CallType == api.CallSameChainExcludeSolver {
		check("the whole call", q.OriginChainsOperations[0], op.LanePrepared, true)
		return
	}
	for _, o := range q.OriginChainsOperations {
		if o.IsSolana() {
			checkSolanaDeposit(t, w, q, o)
			continue
		}
		here := o.TypedDataToSign.Domain.ChainID == p.ChainOperation.TypedDataToSign.Domain.ChainID
		check("the funding operation on "+o.AssetType, o, op.LaneFunding, !here)
	}
}

// checkSolanaDeposit holds a message against protocol §3.4.
func checkSolanaDeposit(t *testing.T, w *World, q api.Quote, o api.ChainOperation) {
	t.Helper()
	m, err := solmsg.ParseBase64(o.DataToSign)
	Must(t, err)
	pins := w.Installation.Pins
	signers := m.Signers()
	if m.Version != solmsg.V0 || len(m.Lookups) != 0 || len(signers) != 2 ||
		signers[0].String() != pins.SolanaSponsor || signers[1] != w.User.Wallet {
		t.Errorf("signers %v", signers)
	}
	if o.FeePayer != pins.SolanaSponsor || o.RecentBlockHash != m.Blockhash.String() || o.Signature != "" ||
		len(m.Instructions) != 2 {
		t.Errorf("%+v", o)
	}
	memo, ok := solmsg.DecodeMemo(m.Instructions[1].Data)
	if !ok || memo != q.ID || m.Instructions[1].Program != solmsg.MemoProgram() {
		t.Errorf("memo %q", memo)
	}
	vault, err := solmsg.ParseKey(pins.SolanaVault)
	Must(t, err)
	pays, err := caip.ParseAsset(o.AssetType)
	Must(t, err)
	in := m.Instructions[0]
	var v uint64
	if mint, token := deployment.SolanaMint(pays); token {
		at, err := solmsg.AssociatedTokenAccount(vault, mint, solmsg.TokenProgram())
		Must(t, err)
		v, _, ok = solmsg.DecodeTokenTransferChecked(in.Data)
		ok = ok && in.Accounts[2].Key == at
	} else {
		v, ok = solmsg.DecodeSystemTransfer(in.Data)
		ok = ok && in.Accounts[1].Key == vault
	}
	if !ok || strconv.FormatUint(v, 10) != o.Amount {
		t.Errorf("the transfer of %d is not one of %s to the vault", v, o.Amount)
	}
	_, lastValid, _ := w.Installation.Solana.Blockhash(context.Background(), uint64(w.Clock.Now().Unix()))
	if end, _ := strconv.ParseUint(q.ExpirationTimestamp, 10, 64); end > lastValid {
		t.Errorf("the quote outlives its block hash: %d > %d", end, lastValid)
	}
	for i, in := range o.Instructions {
		if strings.HasPrefix(in.Data, "0x") || in.ProgramID != m.Instructions[i].Program.String() {
			t.Errorf("instruction %+v", in)
		}
	}
}

// checkNumbers: a signed document holds no fraction and no number above 2^53 (protocol §4.1). Prepare's
// sourceAssetBalances are outside the signature.
func checkNumbers(t *testing.T, doc *api.Document) {
	t.Helper()
	doc.Leaves(func(pointer string, value []byte) {
		if strings.HasPrefix(pointer, "/sourceAssetBalances/") ||
			value[0] != '-' && (value[0] < '0' || value[0] > '9') {
			return
		}
		if n, err := strconv.ParseUint(string(value), 10, 64); err != nil || n > 1<<53 {
			t.Errorf("%s is %s", pointer, value)
		}
	})
}

func TestQuoteNeverOutlivesTheBlockHash(t *testing.T) {
	w := as(New(t, Options{Lifetime: 5 * 60e9}), api.AccountKernelV31+WithSolana, 3, map[uint64]int64{Solana: 100})
	_, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	quoted, err := callQuoteAs(w, doc)
	Must(t, err)
	_, lastValid, _ := w.Installation.Solana.Blockhash(context.Background(), uint64(w.Clock.Now().Unix()))
	if got := w.Decode(quoted).ExpirationTimestamp; got != strconv.FormatUint(lastValid, 10) {
		t.Errorf("expires at %s, the block hash at %d", got, lastValid)
	}
}

func TestFundingOrderIsByValueOverAllChains(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31+WithSolana, 3,
		map[uint64]int64{Solana: 100, Polygon: 90, Arbitrum: 120})
	p, doc := prepared(t, w, pay(w, Base, 250*usdcPlain))
	want := []caip.Asset{w.Asset("usdc", Arbitrum), w.Asset("usdc", Solana), w.Asset("usdc", Polygon)}
	quoted, err := callQuoteAs(w, doc)
	Must(t, err)
	q := w.Decode(quoted)
	for i, a := range want {
		if p.SourceAssetBalances[i].AssetType != a.String() || q.OriginChainsOperations[i].AssetType != a.String() ||
			q.OriginToken.AssetType[i] != a.String() {
			t.Errorf("place %d: %s, %s", i, p.SourceAssetBalances[i].AssetType, q.OriginChainsOperations[i].AssetType)
		}
	}
}

// delegateTo gives the user's EOA a delegation on a chain, by its own signed authorization.
func delegateTo(w *World, chainID uint64, to common.Address) {
	w.TB.Helper()
	st, err := w.Installation.Chains[chainID].State(context.Background(), uint64(w.Clock.Now().Unix()))
	Must(w.TB, err)
	nonce := st.Nonce(w.User.Address)
	st.Close()
	auth, err := op.Authorization{ChainID: new(big.Int).SetUint64(chainID), Address: to, Nonce: nonce}.Sign(w.User.Key)
	Must(w.TB, err)
	_, err = w.Installation.Chains[chainID].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: w.Installation.Operator, To: payee(), Value: new(big.Int),
			Authorizations: []op.SignedAuthorization{auth}}},
	})
	Must(w.TB, err)
}

func TestForeignDelegationOnTheTargetChainIsDELEGATION001AtPrepareAndAtQuote(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Base: 50})
	r := pay(w, Base, 20*usdcPlain)
	_, doc := prepared(t, w, r)
	delegateTo(w, Base, w.Installation.Pins.ECDSAValidator)
	_, err := callQuoteAs(w, doc)
	Refused(t, err, api.ErrDelegation)
	_, err = w.Prepare(r)
	Refused(t, err, api.ErrDelegation)
}

func TestForeignDelegationOnASourceChainMakesItNoSource(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Polygon: 500, Arbitrum: 50})
	delegateTo(w, Polygon, w.Installation.Pins.ECDSAValidator)
	p, _ := prepared(t, w, pay(w, Base, 20*usdcPlain))
	if len(p.SourceAssetBalances) != 1 || p.SourceAssetBalances[0].AssetType != w.Asset("usdc", Arbitrum).String() {
		t.Errorf("%+v", p.SourceAssetBalances)
	}
	_, err := w.Prepare(pay(w, Base, 200*usdcPlain))
	Refused(t, err, api.ErrInsufficientBalance)
	r := pay(w, Base, 20*usdcPlain)
	r.FromAssetID = w.Asset("usdc", Polygon).String() // nothing else may pay, so the reason is told
	_, err = w.Prepare(r)
	Refused(t, err, api.ErrDelegation)
}

func TestDelegatedAccountIsAskedForNoDelegation(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Base: 5, Polygon: 50})
	delegateTo(w, Base, w.Installation.Pins.KernelV33)
	p, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	if p.ChainOperation.Delegation != nil {
		t.Errorf("%+v", p.ChainOperation.Delegation)
	}
	quoted, err := callQuoteAs(w, doc)
	Must(t, err)
	if d := w.Decode(quoted).OriginChainsOperations[0].Delegation; d == nil || d.Nonce != 0 {
		t.Errorf("on Polygon: %+v", d)
	}
}

func TestDelegationOfAnotherKeyChainOrNonceIsAnInvalidSignature(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Base: 50})
	_, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	signed := w.SignOperationAs(w.User, doc, "/chainOperation")
	pins := w.Installation.Pins
	for name, a := range map[string]struct {
		chainID, nonce uint64
		to             common.Address
		key            uint64
	}{
		"another key":      {Base, 0, pins.KernelV33, 99},
		"another chain":    {Polygon, 0, pins.KernelV33, 3},
		"another nonce":    {Base, 1, pins.KernelV33, 3},
		"another contract": {Base, 0, pins.ECDSAValidator, 3},
	} {
		auth, err := op.Authorization{ChainID: new(big.Int).SetUint64(a.chainID), Address: a.to,
			Nonce: a.nonce}.Sign(Key(a.key))
		Must(t, err)
		changed, err := signed.Splice(api.Edit{Pointer: "/chainOperation/delegation/signature",
			Value: w.Encode(auth.Wire()).Raw()})
		Must(t, err)
		_, err = w.Quoter.CallQuote(context.Background(), w.Encode(map[string]json.RawMessage{
			"accounts": member(w, changed, "/accounts"), "chainOperation": member(w, changed, "/chainOperation"),
			"tamperProofSignature": member(w, changed, "/tamperProofSignature"),
		}))
		var e *api.Error
		if e = asError(err); e == nil || e.Name != api.ErrInvalidSignature && e.Name != api.ErrValidation {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDelegationThatLandedMeanwhileMeansPrepareAgain(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Base: 50})
	_, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	delegateTo(w, Base, w.Installation.Pins.KernelV33)
	_, err := callQuoteAs(w, doc)
	Refused(t, err, api.ErrPrepareAgain)
}

func TestOneAuthorizationServesPreparedAndFundingOperationOfAChain(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, nil)
	w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 50*usdcPlain)
	r := pay(w, Arbitrum, 20*usdcPlain)
	r.FromAssetID = "ob:usdt"
	p, doc := prepared(t, w, r)
	quoted, err := callQuoteAs(w, doc)
	Must(t, err)
	q := w.Decode(quoted)
	if len(q.OriginChainsOperations) != 1 || *q.OriginChainsOperations[0].Delegation != *p.ChainOperation.Delegation {
		t.Errorf("%+v beside %+v", q.OriginChainsOperations[0].Delegation, p.ChainOperation.Delegation)
	}
}

func TestASolanaAccountAloneMakesNoCalls(t *testing.T) {
	w := as(New(t, Options{}), api.AccountSolana, 3, map[uint64]int64{Solana: 50})
	_, err := w.Prepare(pay(w, Base, 20*usdcPlain))
	Refused(t, err, api.ErrValidation)
}

func TestPledgedSolanaFundsAreNoSource(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31+WithSolana, 3, map[uint64]int64{Solana: 100})
	first := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(70 * usdcPlain), Get: "ob:eth"}))
	acceptOffer(w, first.ID)
	_, err := w.Prepare(pay(w, Base, 50*usdcPlain))
	Refused(t, err, api.ErrInsufficientBalance)
	prepared(t, w, pay(w, Base, 20*usdcPlain))
}
