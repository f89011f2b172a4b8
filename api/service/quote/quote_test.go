package quote_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/quote"
	. "coffer/api/service/settle/settletest"
)

const usdcPlain = 1_000_000

func payee() common.Address { return common.HexToAddress("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0") }

func pay(w *World, chainID uint64, v int64) api.PrepareRequest {
	usdc := w.Asset("usdc", chainID)
	return w.Request(usdc, v, Transfer(usdc, payee(), v))
}

func funded(t *testing.T) *World {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Polygon), 90*usdcPlain)
	return w
}

func prepared(t *testing.T, w *World, r api.PrepareRequest) (api.PrepareResponse, *api.Document) {
	t.Helper()
	doc, err := w.Prepare(r)
	Must(t, err)
	var p api.PrepareResponse
	Must(t, doc.Decode(&p))
	return p, doc
}

func userOp(t *testing.T, o api.ChainOperation) op.UserOp {
	t.Helper()
	u, err := op.FromWire(*o.UserOp)
	Must(t, err)
	return u
}

func callsOf(t *testing.T, o api.ChainOperation) []op.Call {
	t.Helper()
	calls, err := op.DecodeExecute(userOp(t, o).CallData)
	Must(t, err)
	return calls
}

func TestPreparedOperationHasOurFormAndNoFees(t *testing.T) {
	w := funded(t)
	p, _ := prepared(t, w, pay(w, Base, 200*usdcPlain))
	u := userOp(t, p.ChainOperation)
	pins := w.Installation.Network.Pins
	for name, v := range map[string]*big.Int{"maxFeePerGas": u.MaxFeePerGas, "maxPriorityFeePerGas": u.MaxPriorityFeePerGas, "preVerificationGas": u.PreVerificationGas} {
		if v.Sign() != 0 {
			t.Errorf("%s is %s", name, v)
		}
	}
	if *u.Paymaster != pins.Paymaster || *u.Factory != pins.MetaFactory || len(u.Signature) != 0 || u.Sender != w.User.Address {
		t.Errorf("operation %+v", u)
	}
	n, err := op.ParseNonce(u.Nonce)
	Must(t, err)
	if n.Key != op.LanePrepared || n.Sequence != 0 || n.Mode != 0 || n.Type != 0 || n.Validator != pins.ECDSAValidator {
		t.Errorf("nonce %+v", n)
	}
	window, sig, err := op.DecodePaymasterData(u.PaymasterData)
	Must(t, err)
	if window.ValidAfter != Start || window.ValidUntil != Start+600 || len(sig) != 65 {
		t.Errorf("window %+v", window)
	}
	domain, hash, err := op.CheckTypedData(*p.ChainOperation.TypedDataToSign)
	Must(t, err)
	if domain != (op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: Base, VerifyingContract: common.HexToAddress("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57")}) {
		t.Errorf("domain %+v", domain)
	}
	if hash != op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce) {
		t.Error("the message is not the formula's")
	}
	if p.ChainOperation.AssetType != w.Asset("usdc", Base).String() || p.ChainOperation.Amount != "200000000" || p.CallType != api.CallCrossChain {
		t.Errorf("%s %s %s", p.ChainOperation.AssetType, p.ChainOperation.Amount, p.CallType)
	}
	var order []string
	for _, b := range p.SourceAssetBalances {
		order = append(order, b.AssetType[:strings.Index(b.AssetType, "/")]+"="+b.Balance)
	}
	if got := strings.Join(order, " "); got != "eip155:8453=25000000 eip155:42161=120000000 eip155:137=90000000" {
		t.Errorf("funding order %s", got)
	}
}

func TestDeployedAccountGetsNoFactory(t *testing.T) {
	w := funded(t)
	w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: new(big.Int)})
	p, _ := prepared(t, w, pay(w, Base, 200*usdcPlain))
	if p.ChainOperation.UserOp.Factory != "" || p.ChainOperation.UserOp.FactoryData != "" {
		t.Error("a deployed account got a factory")
	}
}

func TestValidityWindowIsTheRequestsWithinTenMinutes(t *testing.T) {
	w := funded(t)
	for _, c := range []struct {
		after, until string
		want         op.PaymasterWindow
	}{
		{"", "", op.PaymasterWindow{ValidAfter: Start, ValidUntil: Start + 600}},
		{"1760000100", "", op.PaymasterWindow{ValidAfter: Start + 100, ValidUntil: Start + 600}},
		{"", "1760000200", op.PaymasterWindow{ValidAfter: Start, ValidUntil: Start + 200}},
		{"1", "1860000000", op.PaymasterWindow{ValidAfter: Start, ValidUntil: Start + 600}},
	} {
		r := pay(w, Base, 20*usdcPlain)
		r.ValidAfter, r.ValidUntil = c.after, c.until
		p, _ := prepared(t, w, r)
		got, _, err := op.DecodePaymasterData(userOp(t, p.ChainOperation).PaymasterData)
		Must(t, err)
		if got != c.want {
			t.Errorf("%q…%q gives %+v", c.after, c.until, got)
		}
	}
	for _, c := range [][2]string{{"", "1760000059"}, {"1760000300", "1760000300"}, {"1760000600", ""}} {
		r := pay(w, Base, 20*usdcPlain)
		r.ValidAfter, r.ValidUntil = c[0], c[1]
		_, err := w.Prepare(r)
		Refused(t, err, api.ErrValidation)
	}
}

func TestAllowancesComeAsPairsAroundTheCallsOrNotAtAll(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	token, _ := usdc.Token()
	spender := common.HexToAddress("0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6")
	other := common.HexToAddress("0x00000000000000000000000000000000000000Aa")
	// an allowance of 30 to the spender and of 9 to the other one already stand
	w.RunDirect(Base, 7, true,
		op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(spender, big.NewInt(30))},
		op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(other, big.NewInt(9))})
	r := pay(w, Base, 20*usdcPlain)
	r.AllowanceRequirements = []api.AllowanceRequirement{
		{AssetType: usdc.String(), Amount: "50", Spender: spender.Hex()},
		{AssetType: usdc.String(), Amount: "0", Spender: other.Hex()},
		{AssetType: usdc.String(), Amount: "70", Spender: payee().Hex()},
	}
	p, _ := prepared(t, w, r)
	var got []string
	for _, c := range callsOf(t, p.ChainOperation) {
		if s, v, ok := erc20.DecodeApprove(c.Data); ok {
			got = append(got, s.Hex()[:6]+"="+v.String())
		} else {
			got = append(got, "call")
		}
	}
	if want := "0x00C0=50 0x0000=0 0x93DB=70 call 0x00C0=0 0x93DB=0"; strings.Join(got, " ") != want {
		t.Errorf("batch %v, expected %s", got, want)
	}
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: usdc.String(), Amount: "30", Spender: spender.Hex()}}
	p, _ = prepared(t, w, r)
	if n := len(callsOf(t, p.ChainOperation)); n != 1 {
		t.Errorf("a sufficient allowance gave %d calls", n)
	}
}

func TestAllowanceWithoutSpenderGoesToTheOnlyOtherTarget(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := pay(w, Base, 20*usdcPlain)
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: usdc.String(), Amount: "5"}}
	_, err := w.Prepare(r)
	Refused(t, err, api.ErrValidation)
	r.Calls = append(r.Calls, api.Call{To: payee().Hex()})
	p, _ := prepared(t, w, r)
	if s, _, ok := erc20.DecodeApprove(callsOf(t, p.ChainOperation)[0].Data); !ok || s != payee() {
		t.Errorf("spender %s", s)
	}
}

func TestAllowanceOfWhatIsNoTokenIsAValidationFailure(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 20*usdcPlain)
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: caip.ERC20(Base, payee()).String(), Amount: "5", Spender: payee().Hex()}}
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrValidation)
	if e.Details[0].Path != "allowanceRequirements[0].assetType" {
		t.Errorf("%+v", e.Details)
	}
}

func TestRevertIsA422WithReasonAndCall(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 20*usdcPlain, Transfer(usdc, payee(), 5*usdcPlain), Transfer(usdc, payee(), 50*usdcPlain))
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: usdc.String(), Amount: "5", Spender: payee().Hex()}}
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrSimulationFailed)
	if e.StatusCode != 422 || !strings.Contains(e.Message, "call 1 would revert: ERC20InsufficientBalance") || e.Details[0].Path != "calls[1]" {
		t.Errorf("%+v", e)
	}
}

func TestUndeclaredSpendMustBeCoveredByWhatIsThere(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 100*usdcPlain, Transfer(usdc, payee(), 100*usdcPlain), api.Call{To: payee().Hex(), Value: "0x5"})
	_, err := w.Prepare(r)
	Refused(t, err, api.ErrSimulationFailed)
	w.Fund(w.User.Address, caip.Native(Base), 5)
	prepared(t, w, r)
}

func TestOverridesChangeTheSimulationOnly(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 20*usdcPlain)
	r.Calls = append(r.Calls, api.Call{To: payee().Hex(), Value: "7"})
	r.Overrides = []api.StateOverride{{Address: w.User.Address.Hex(), Balance: "0x7"}}
	_, doc := prepared(t, w, r)
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	Refused(t, w.Execute(w.SignQuote(quoted)), api.ErrSimulationFailed)
	// code and stateDiff: a contract that reverts unless its slot 1 holds 1
	code := "0x600154600114600c575f5ffd5b00"
	r = pay(w, Base, 20*usdcPlain)
	r.Calls = append(r.Calls, api.Call{To: payee().Hex()})
	r.Overrides = []api.StateOverride{{Address: payee().Hex(), Code: code}}
	_, err = w.Prepare(r)
	Refused(t, err, api.ErrSimulationFailed)
	one := "0x" + strings.Repeat("0", 63) + "1"
	r.Overrides[0].StateDiff = map[string]string{one: one}
	prepared(t, w, r)
}

func TestAccountTypesOfLaterStagesAreRefusedByName(t *testing.T) {
	w := funded(t)
	at := w.User.Account.AccountAddress
	for _, a := range []api.Account{
		{Type: api.AccountRoleBased, SessionAddress: payee().Hex(), AdminAddress: w.User.Account.SignerAddress, AccountAddress: at},
		{Type: api.AccountKernelV33, SignerAddress: at, AccountAddress: at, DeploymentType: api.DeploymentEIP7702},
	} {
		r := pay(w, Base, 20*usdcPlain)
		r.Accounts = []api.Account{a}
		_, err := w.Prepare(r)
		e := Refused(t, err, api.ErrValidation)
		if e.Details[0].Path != "accounts[0].type" || !strings.Contains(e.Details[0].Expected, "kernel-v3.1-ecdsa") {
			t.Errorf("%+v", e.Details)
		}
	}
	r := pay(w, Base, 20*usdcPlain)
	r.Accounts = append(r.Accounts, api.Account{Type: api.AccountSolana, AccountAddress: "EB8Hi4LoqUVCGUPJ2y9MsHbEsJQJvmpQRUWrLpjEZxC6"})
	_, err := w.Prepare(r)
	Refused(t, err, api.ErrValidation)
}

func TestAccountAddressMustFollowFromItsKeys(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 20*usdcPlain)
	r.Accounts[0].AccountAddress = payee().Hex()
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrValidation)
	if e.Details[0].Path != "accounts[0].accountAddress" || !strings.Contains(e.Details[0].Expected, w.User.Address.Hex()) {
		t.Errorf("%+v", e.Details)
	}
}

func TestUnpricedRequirementIsRefusedUnlessZero(t *testing.T) {
	w := New(t, Options{})
	zero := w.Asset("zero", Linea)
	r := w.Request(zero, 5, api.Call{To: payee().Hex()})
	_, err := w.Prepare(r)
	Refused(t, err, api.ErrValidation)
	r.TokensRequired[0].Amount = "0"
	p, _ := prepared(t, w, r)
	if p.CallType != api.CallSameChainExcludeSolver {
		t.Error(p.CallType)
	}
}

func TestNoRequirementAtAllNamesTheCoin(t *testing.T) {
	w := New(t, Options{})
	r := pay(w, Polygon, 1)
	r.TokensRequired, r.Calls = nil, []api.Call{{To: payee().Hex()}}
	p, doc := prepared(t, w, r)
	if p.ChainOperation.AssetType != "eip155:137/slip44:60" || p.ChainOperation.Amount != "0" || p.SourceAssetBalances == nil {
		t.Errorf("%+v", p)
	}
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	q := w.Decode(quoted)
	if q.DestinationToken.AggregatedAssetID != "ob:pol" || q.DestinationToken.Amount != "0" {
		t.Errorf("%+v", q.DestinationToken)
	}
	if s := w.Settle(w.SignQuote(quoted)); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
}

func TestWhatCannotBeCoveredIsRefusedAtPrepare(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, w.Asset("eth", Linea), big.NewInt(1e18))
	r := pay(w, Base, 2000*usdcPlain)
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "needed 2001.") || !strings.Contains(e.Message, "available 235 USDC") {
		t.Error(e.Message)
	}
	doc, err := w.Quoter.PrepareAnyAsset(context.Background(), w.Encode(r))
	Must(t, err)
	var p api.PrepareResponse
	Must(t, doc.Decode(&p))
	if p.CallType != api.CallCrossChainSwaps {
		t.Error(p.CallType)
	}
	_, err = w.CallQuote(doc, "ob:usdc")
	Refused(t, err, api.ErrInsufficientBalance)
	_, err = w.CallQuote(doc, "ob:eth")
	Must(t, err)
}

func TestFundingOperationsPayIntoTheEscrow(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, caip.Native(Linea), big.NewInt(1e18))
	for _, from := range []string{"ob:usdc", "ob:eth"} {
		r := pay(w, Base, 200*usdcPlain)
		r.FromAssetID = from
		_, doc := prepared(t, w, r)
		quoted, err := w.CallQuote(doc, from)
		Must(t, err)
		q := w.Decode(quoted)
		sum := new(big.Int)
		for _, o := range q.OriginChainsOperations {
			calls := callsOf(t, o)
			u := userOp(t, o)
			n, err := op.ParseNonce(u.Nonce)
			Must(t, err)
			last := calls[len(calls)-1]
			d, ok := escrow.DecodeDeposit(last.Data)
			if !ok || last.To != w.Installation.Network.Pins.Escrow || d.Amount.String() != o.Amount || common.Hash(d.QuoteID).Hex() != q.ID || n.Key != op.LaneFunding {
				t.Fatalf("%s: deposit %+v", from, d)
			}
			asset, err := caip.ParseAsset(o.AssetType)
			Must(t, err)
			if token, isToken := asset.Token(); isToken {
				spender, v, ok := erc20.DecodeApprove(calls[0].Data)
				if len(calls) != 2 || !ok || calls[0].To != token || d.Token != token || spender != last.To || v.Cmp(d.Amount) != 0 || last.Value.Sign() != 0 {
					t.Errorf("%s: calls %+v", from, calls)
				}
			} else if len(calls) != 1 || last.Value.Cmp(d.Amount) != 0 || d.Token != (common.Address{}) {
				t.Errorf("%s: calls %+v", from, calls)
			}
			if d.RefundDeadline <= Start {
				t.Errorf("refund deadline %d", d.RefundDeadline)
			}
			sum.Add(sum, d.Amount)
		}
		if sum.String() != q.OriginToken.Amount {
			t.Errorf("%s: deposits %s, origin token %s", from, sum, q.OriginToken.Amount)
		}
	}
}

func TestQuoteTermsFollowTheProtocol(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	quoted, err := w.CallQuote(doc, "ob:usdc")
	Must(t, err)
	q := w.Decode(quoted)
	fees := new(big.Int)
	for asset, fee := range q.Fees.Assets {
		if !slices.Contains(q.OriginToken.AssetType, asset) {
			t.Errorf("a fee in %s", asset)
		}
		v, _ := new(big.Int).SetString(fee, 10)
		fees.Add(fees, v)
	}
	paid, _ := new(big.Int).SetString(q.OriginToken.Amount, 10)
	if new(big.Int).Sub(paid, fees).Int64() != 175*usdcPlain {
		t.Errorf("paid %s − fees %s is not what is delivered", paid, fees)
	}
	if fees.Int64()*100 > paid.Int64() {
		t.Errorf("the fees are %s of %s: over one percent", fees, paid)
	}
	d := q.DestinationToken
	if d.Amount != "200000000" || d.MinimumAmount != d.Amount || d.RecipientAccount != "eip155:8453:"+strings.ToLower(w.User.Address.Hex()) || d.Symbol != "USDC" || *d.Decimals != 6 {
		t.Errorf("%+v", d)
	}
	if q.Slippage.Destination != (api.SlippageSide{Percent: "0", USD: "0.00", Value: "0"}) || q.Slippage.Origin.Percent != "2" {
		t.Errorf("%+v", q.Slippage)
	}
	if q.ExpirationTimestamp != "1760000030" {
		t.Error(q.ExpirationTimestamp)
	}
}

func TestSlippageOfCallQuoteWins(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 200*usdcPlain)
	r.SlippageTolerance = 100
	_, doc := prepared(t, w, r)
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	if got := w.Decode(quoted).Slippage.Origin.Percent; got != "1" {
		t.Errorf("prepare's tolerance became %s", got)
	}
	body := w.CallQuoteBody(doc, "", w.User.Key)
	body, err = body.Splice(api.Edit{Pointer: "/slippageTolerance", Value: []byte("50")})
	Must(t, err)
	quoted, err = w.Quoter.CallQuote(context.Background(), body)
	Must(t, err)
	if got := w.Decode(quoted).Slippage.Origin.Percent; got != "0.5" {
		t.Errorf("call-quote's tolerance became %s", got)
	}
}

func TestWrongSignerIsRefusedAtCallQuote(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	_, err := w.Quoter.CallQuote(context.Background(), w.CallQuoteBody(doc, "", Key(99)))
	Refused(t, err, api.ErrInvalidSignature)
	body := w.CallQuoteBody(doc, "", w.User.Key)
	broken, err := body.Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(`"0x1234"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), broken)
	Refused(t, err, api.ErrInvalidSignature)
}

func TestPlainHashSignatureIsAcceptedAsOnChain(t *testing.T) {
	w := funded(t)
	p, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	hash, err := userOp(t, p.ChainOperation).Hash(w.Installation.Network.Pins.EntryPoint, big.NewInt(Base))
	Must(t, err)
	sig, err := crypto.Sign(hash[:], w.User.Key)
	Must(t, err)
	sig[64] += 27
	body, err := w.CallQuoteBody(doc, "", w.User.Key).Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(`"0x` + hex.EncodeToString(sig) + `"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), body)
	Must(t, err)
}

func TestEveryChangedLeafOfAPreparedOperationIsTamperProof(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	body := w.CallQuoteBody(doc, "", w.User.Key)
	leaves := 0
	body.Leaves(func(pointer string, value []byte) {
		if pointer == "/chainOperation/userOp/signature" {
			return
		}
		leaves++
		var v any
		Must(t, json.Unmarshal(value, &v))
		changed := []byte(`"0x00"`)
		if n, is := v.(float64); is {
			changed, _ = json.Marshal(n + 1)
		} else if s := v.(string); len(s) > 2 {
			last := "0"
			if s[len(s)-1] == '0' {
				last = "1"
			}
			changed, _ = json.Marshal(s[:len(s)-1] + last)
		}
		other, err := body.Splice(api.Edit{Pointer: pointer, Value: changed})
		Must(t, err)
		_, err = w.Quoter.CallQuote(context.Background(), other)
		Refused(t, err, api.ErrTamperProof)
	})
	if leaves < 25 {
		t.Errorf("only %d leaves", leaves)
	}
}

func TestAccountsArePartOfThePreparedTagAsParsedValues(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	body := w.CallQuoteBody(doc, "", w.User.Key)
	account := `[{"accountAddress":"` + strings.ToLower(w.User.Account.AccountAddress) + `","deploymentType":"ERC4337","signerAddress":"` +
		strings.ToLower(w.User.Account.SignerAddress) + `","type":"kernel-v3.1-ecdsa"}]`
	same, err := body.Splice(api.Edit{Pointer: "/accounts", Value: []byte(account)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), same)
	Must(t, err)
}

func TestUnknownOrEndedOperationMeansPrepareAgain(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.Clock.Advance(599 * time.Second)
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
	w.Clock.Advance(time.Hour)
	_, err = w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
}

func TestChangedAccountMeansPrepareAgain(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: new(big.Int)})
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain) // deployed meanwhile
	_, doc = prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.RunDirect(Base, op.LanePrepared, false, op.Call{To: payee(), Value: new(big.Int)})
	_, err = w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain) // nonce used meanwhile
}

func TestConsentToAWholeCallIsNeverTurnedIntoAFundedOneOrBack(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	w.Fund(w.User.Address, w.Asset("usdc", Base), 500*usdcPlain)
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
}

func TestOnePreparedPairMayBeQuotedAgain(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, caip.Native(Linea), big.NewInt(1e18))
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	first, err := w.CallQuote(doc, "")
	Must(t, err)
	w.Clock.Advance(time.Minute)
	second, err := w.CallQuote(doc, "ob:eth")
	Must(t, err)
	if w.Decode(first).ID == w.Decode(second).ID {
		t.Error("two quotes have one id")
	}
	if s := w.Settle(w.SignQuote(second)); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
}

func TestRequestsThatDifferOnlyInRequirementsGetDifferentOperations(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 30*usdcPlain, Transfer(usdc, payee(), 20*usdcPlain))
	first, a := prepared(t, w, r)
	same, _ := prepared(t, w, r)
	r.TokensRequired[0].Amount = "31000000"
	second, _ := prepared(t, w, r)
	if *same.ChainOperation.UserOp != *first.ChainOperation.UserOp {
		t.Error("the same request in the same second gave another operation")
	}
	if *second.ChainOperation.UserOp == *first.ChainOperation.UserOp {
		t.Error("two contexts share one operation")
	}
	quoted, err := w.CallQuote(a, "")
	Must(t, err)
	if got := w.Decode(quoted).DestinationToken.Amount; got != "30000000" {
		t.Errorf("the first operation was quoted for %s", got)
	}
}

func TestBothPayingAssetsAreOneTooMany(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	body, err := w.CallQuoteBody(doc, "ob:usdc", w.User.Key).Splice(api.Edit{Pointer: "/fromAssetId", Value: []byte(`"eip155:42161/slip44:60"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), body)
	Refused(t, err, api.ErrValidation)
}

func TestNoRouteFault(t *testing.T) {
	w := funded(t)
	q := quote.New(func() quote.Deps {
		d := w.Quoter.Deps
		d.NoRoute = func() bool { return true }
		return d
	}())
	_, err := q.Prepare(context.Background(), w.Encode(pay(w, Base, 100*usdcPlain)))
	Refused(t, err, api.ErrNoRoute)
}

func TestMoreThanTheSolverHoldsIsNoRoute(t *testing.T) {
	w := New(t, Options{})
	huge := new(big.Int).Mul(big.NewInt(190_000_000), big.NewInt(usdcPlain))
	for _, id := range []uint64{Arbitrum, Polygon, Optimism} {
		w.FundBig(w.User.Address, w.Asset("usdc", id), huge)
	}
	r := pay(w, Base, 450_000_000*usdcPlain)
	_, doc := prepared(t, w, r)
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrNoRoute)
}
