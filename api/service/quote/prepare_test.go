package quote_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
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
	pins := w.Installation.Pins
	for name, v := range map[string]*big.Int{"maxFeePerGas": u.MaxFeePerGas,
		"maxPriorityFeePerGas": u.MaxPriorityFeePerGas, "preVerificationGas": u.PreVerificationGas} {
		if v.Sign() != 0 {
			t.Errorf("%s is %s", name, v)
		}
	}
	if *u.Paymaster != pins.Paymaster || *u.Factory != pins.MetaFactory || len(u.Signature) != 0 ||
		u.Sender != w.User.Address {
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
	if domain != (op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: Base,
		VerifyingContract: common.HexToAddress("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57")}) {
		t.Errorf("domain %+v", domain)
	}
	if hash != op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce) {
		t.Error("the message is not the formula's")
	}
	if p.ChainOperation.AssetType != w.Asset("usdc", Base).String() || p.ChainOperation.Amount != "200000000" ||
		p.CallType != api.CallCrossChain {
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
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: usdc.String(), Amount: "30",
		Spender: spender.Hex()}}
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
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: caip.ERC20(Base, payee()).String(), Amount: "5",
		Spender: payee().Hex()}}
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
	r.AllowanceRequirements = []api.AllowanceRequirement{{AssetType: usdc.String(), Amount: "5",
		Spender: payee().Hex()}}
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrSimulationFailed)
	if e.StatusCode != 422 || !strings.Contains(e.Message, "call 1 would revert: ERC20InsufficientBalance") ||
		e.Details[0].Path != "calls[1]" {
		t.Errorf("%+v", e)
	}
}

func TestUndeclaredSpendMustBeCoveredByWhatIsThere(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 100*usdcPlain, Transfer(usdc, payee(), 100*usdcPlain),
		api.Call{To: payee().Hex(), Value: "0x5"})
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

func TestAccountAddressMustFollowFromItsKeys(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 20*usdcPlain)
	r.Accounts[0].AccountAddress = payee().Hex()
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrValidation)
	if e.Details[0].Path != "accounts[0].accountAddress" ||
		!strings.Contains(e.Details[0].Expected, w.User.Address.Hex()) {
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
	p, doc := prepared(t, w, r)
	if p.CallType != api.CallSameChainExcludeSolver {
		t.Error(p.CallType)
	}
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	q := w.Decode(quoted) // nothing is worth nothing at any price
	if to, from := q.DestinationToken, q.OriginToken.FiatValue; to.FiatValue != "0.00" ||
		to.MinimumFiatValue != "0.00" || len(from) != 1 || from[0].FiatValue != "0.00" {
		t.Errorf("%+v, %+v", to, from)
	}
}

func TestNoRequirementAtAllNamesTheCoin(t *testing.T) {
	w := New(t, Options{})
	r := pay(w, Polygon, 1)
	r.TokensRequired, r.Calls = nil, []api.Call{{To: payee().Hex()}}
	p, doc := prepared(t, w, r)
	if p.ChainOperation.AssetType != "eip155:137/slip44:60" || p.ChainOperation.Amount != "0" ||
		p.SourceAssetBalances == nil {
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

func TestOverridesHaveNoSayInWhatGetsSigned(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 50*usdcPlain)
	r := pay(w, Arbitrum, 20*usdcPlain)
	r.FromAssetID = "ob:usdt" // a deposit on the target chain, built on the simulated state
	plain := w.Decode(w.Quote(r, ""))
	pins := w.Installation.Pins
	// the sequence of the funding lane: nonceSequenceNumber[sender][key], slot 1 of the entry point
	key := op.Nonce{Validator: pins.ECDSAValidator, Key: op.LaneFunding}.Key192()
	outer := crypto.Keccak256(common.LeftPadBytes(w.User.Address[:], 32), common.LeftPadBytes([]byte{1}, 32))
	slot := crypto.Keccak256Hash(common.LeftPadBytes(key.Bytes(), 32), outer)
	r.Overrides = []api.StateOverride{{Address: pins.EntryPoint.Hex(),
		StateDiff: map[string]string{slot.Hex(): common.BigToHash(big.NewInt(7)).Hex()}}}
	prepared, err := w.Prepare(r)
	Must(t, err)
	doc, err := w.CallQuote(prepared, "")
	if err != nil { // the funding operation does not fit the simulated nonce: refused is fine, too
		Refused(t, err, api.ErrSimulationFailed)
		return
	}
	if got, want := w.Decode(doc).OriginChainsOperations[0].UserOp.Nonce,
		plain.OriginChainsOperations[0].UserOp.Nonce; got != want {
		t.Errorf("nonce %s, expected %s", got, want)
	}
}

func TestBrokenEntryPointUnderOverridesIsASimulationFailure(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 50*usdcPlain)
	event := crypto.Keccak256Hash([]byte(
		"UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")).Hex()[2:]
	for name, code := range map[string]string{
		"removed":                  "0x",
		"an event without data":    "0x5f5f5f7f" + event + "5f5fa400",
		"a well-formed success":    "0x6001602052" + "5f5f5f7f" + event + "60805fa400",
		"reverts without a reason": "0x5f5ffd",
	} {
		r := pay(w, Arbitrum, 20*usdcPlain)
		r.FromAssetID = "ob:usdt"
		r.Overrides = []api.StateOverride{{Address: w.Installation.Pins.EntryPoint.Hex(), Code: code}}
		prepared, err := w.Prepare(r)
		if err == nil {
			_, err = w.CallQuote(prepared, "")
		}
		var e *api.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: a fault of the service: %v", name, err)
		}
	}
}
