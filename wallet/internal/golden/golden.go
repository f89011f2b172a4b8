// Package golden builds the answers that an honest service would give, for tests of the wallet. It speaks the protocol
// (protocol §2, §3) from the service's side and shares no code with the verifier; every key in it is worthless. Amounts
// are base units.
package golden

import (
	"bytes"
	"crypto/ecdsa"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/assets"
	"coffer/wallet/intent"
)

// The assets, addresses and the first quote id of golden answers.
const (
	BaseUSDC = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	ArbUSDC  = "eip155:42161/erc20:0xaf88d065e77c8cc2239327c5edb3a432268e5831"
	OpUSDC   = "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85"
	BaseETH  = "eip155:8453/slip44:60"
	ArbETH   = "eip155:42161/slip44:60"
	Payee    = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	Vault    = "0x1111111111111111111111111111111111111111"
	QuoteID  = "0x7c1f0000000000000000000000000000000000000000000000000000000000a1"
)

// Clock is the moment at which golden answers are made.
func Clock() time.Time { return time.Unix(1_760_000_000, 0) }

// World is everything that a golden answer is built from: one key, one network, one intent.
type World struct {
	T        testing.TB
	Catalog  *catalog.Catalog
	Network  network.Descriptor
	Signer   common.Address
	Account  common.Address
	Draft    intent.Draft
	CallType string
	Deploy   bool // the account is new on the target chain: it is deployed, or delegated
	Sequence uint64
	Key      string
	Now      time.Time
	ID       string // of the next quote

	Kind      string            // of the account: its type
	Delegates map[uint64]uint64 // the nonce of the delegation that operations on a chain ask for
	// what a quote of v1 shows as the prepared operation, where that is not PreparedOperation
	Shown *api.ChainOperation
	Alone bool // the call pays for itself: its quote shows the prepared operation in one place only

	Signed *api.UserOp           // what the next deposits are released for, where that is not PreparedOperation
	Lie    func(t *escrow.Terms) // what the next deposits say instead of the truth

	frozen   *intent.Intent
	promised []escrow.Minimum // of the last quote
	traded   *escrow.Terms    // of a swap or a transfer
}

// New makes a world with one deployed account on Base that sends 250.5 USDC and 7 wei.
func New(t testing.TB) *World {
	t.Helper()
	c, err := catalog.Load()
	must(t, err)
	pins, err := assets.PinnedAddresses()
	must(t, err)
	a := common.HexToAddress
	n := network.Descriptor{Version: 1, Kind: network.Embedded,
		Chains: []string{"eip155:1", "eip155:10", "eip155:137", "eip155:8453", "eip155:42161", "eip155:43114",
			"eip155:59144"}, Genesis: map[string]string{}, Pins: network.Pins{
			EntryPoint: a(pins.EntryPoint), Paymaster: a(pins.Paymaster), Escrow: a(pins.Escrow),
			KernelV31: a(pins.KernelV31Implementation),
			KernelV33: a(pins.KernelV33Delegate), Factory: a(pins.Factory), MetaFactory: a(pins.MetaFactory),
			ECDSAValidator:     a(pins.ECDSAValidator),
			RoleBasedValidator: a(pins.RoleBasedValidator), Operator: a("0x5"), Solver: a("0x6"), CoSigner: a("0x7"),
			TamperProof: a("0x8"),
		},
		// its role-based validator computes the hash of an approval in the one known way
		Formulas: []network.Formula{{Name: "RoleBasedECDSAValidator", Version: "1.4.3",
			VerifyingContract: a(pins.RoleBasedValidator), Formula: network.FormulaCallDataAndNonce}}}
	if n, err = n.WithID(); err != nil {
		t.Fatal(err)
	}
	w := &World{T: t, Catalog: c, Network: n, CallType: api.CallCrossChain, Key: "golden key", Now: Clock(),
		ID: QuoteID}
	w.Draft = intent.Draft{
		Version: 1, Network: n.ID, TargetChain: "eip155:8453", SlippageBps: 50,
		Calls: []intent.Call{
			{To: TokenOf(BaseUSDC).Hex(), Data: HexOf(erc20.Transfer(a(Payee), big.NewInt(250_500_000)))},
			{To: Vault, Value: "7", Data: "0x"},
		},
		TokensRequired: []api.TokenRequirement{{AssetType: BaseUSDC, Amount: "250500000"}},
		FundWith:       "ob:usdc",
	}
	w.Be(api.AccountKernelV31)
	return w
}

// Intent freezes the draft.
func (w *World) Intent() intent.Intent {
	if w.frozen != nil {
		return *w.frozen
	}
	in, err := intent.Freeze(w.Draft, api.Rules{Catalog: w.Catalog, Now: w.Now})
	must(w.T, err)
	return in
}

// Freeze keeps the intent as it is now.
func (w *World) Freeze() *World {
	in := w.Intent()
	w.frozen = &in
	return w
}

// Asked returns the user's calls as the chain sees them.
func (w *World) Asked() []op.Call {
	var calls []op.Call
	for _, c := range w.Draft.Calls {
		v, _ := api.ParseWei(c.Value)
		calls = append(calls, op.Call{To: common.HexToAddress(c.To), Value: v, Data: common.FromHex(c.Data)})
	}
	return calls
}

// Operation builds a wire operation the way the service does.
func (w *World) Operation(chainID uint64, lane uint16, sequence uint64, deploy bool, calls []op.Call, asset,
	value string) api.ChainOperation {
	w.T.Helper()
	data, err := op.EncodeExecute(calls)
	must(w.T, err)
	pins := w.Network.Pins
	now := uint64(w.Now.Unix())
	pm := pins.Paymaster
	u := op.UserOp{
		Sender: w.Account, Nonce: w.Nonce(lane, sequence).Big(), CallData: data,
		CallGasLimit: big.NewInt(400_000), VerificationGasLimit: big.NewInt(300_000), PreVerificationGas: new(big.Int),
		MaxFeePerGas:         new(big.Int),
		MaxPriorityFeePerGas: new(big.Int), Paymaster: &pm, PaymasterVerificationGasLimit: big.NewInt(60_000),
		PaymasterPostOpGasLimit: big.NewInt(filler.PostOpGas),
		PaymasterData: op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: now + 600, ValidAfter: now},
			make([]byte, 65)),
	}
	init := w.InitData()
	if deploy && init != nil {
		f := pins.MetaFactory
		u.Factory, u.FactoryData = &f, op.FactoryData(pins.Factory, init, new(big.Int))
	}
	wire := u.Wire()
	td := w.Domain(chainID).ApproveWire(op.CallDataAndNonceHash(w.Account, data, u.Nonce))
	out := api.ChainOperation{UserOp: &wire, TypedDataToSign: &td, AssetType: asset, Amount: value}
	if nonce, asks := w.Delegates[chainID]; asks || (deploy && init == nil) {
		out.Delegation = &api.Delegation{ContractAddress: pins.KernelV33.Hex(), Nonce: nonce}
	}
	return out
}

// PreparedOperation builds the prepared operation of the given calls.
func (w *World) PreparedOperation(calls []op.Call) api.ChainOperation {
	asset, value := BaseETH, "0"
	if len(w.Draft.TokensRequired) > 0 {
		asset, value = w.Draft.TokensRequired[0].AssetType, w.Draft.TokensRequired[0].Amount
	}
	return w.Operation(w.Intent().ChainID(), op.LanePrepared, w.Sequence, w.Deploy, calls, asset, value)
}

// PrepareResponse is the golden answer of prepare-call-quote.
func (w *World) PrepareResponse() api.PrepareResponse {
	return api.PrepareResponse{
		Accounts: w.Intent().Draft().Accounts, ChainOperation: w.PreparedOperation(w.Asked()),
		TamperProofSignature: "0x" + strings.Repeat("ab", 65),
		CallType:             w.CallType, SourceAssetBalances: []api.SourceAssetBalance{
			{AssetType: BaseUSDC, Balance: "25000000", Decimals: 6, FiatValue: "24.99"},
			{AssetType: ArbUSDC, Balance: "900000000", Decimals: 6, FiatValue: "899.8"},
		},
	}
}

// Document encodes an answer, in the form of v1 where the intent is for v1.
func (w *World) Document(v any) *api.Document {
	w.T.Helper()
	if w.Draft.Interface == intent.InterfaceV1 {
		v = w.v1(v)
	}
	d, err := api.Encode(v)
	must(w.T, err)
	return d
}

// Payment is one funding operation to build.
type Payment struct {
	Asset    string
	Amount   int64
	Sequence uint64
	Deploy   bool
}

// Deposit builds the funding operation of a payment.
func (w *World) Deposit(p Payment) api.ChainOperation {
	a, err := caip.ParseAsset(p.Asset)
	must(w.T, err)
	chainID, _ := a.Chain.EVMID()
	return w.Operation(chainID, op.LaneFunding, p.Sequence, p.Deploy, w.DepositCalls(a, big.NewInt(p.Amount)), p.Asset,
		strconv.FormatInt(p.Amount, 10))
}

// DepositCalls are the calls that pay v of an asset into the escrow.
func (w *World) DepositCalls(a caip.Asset, v *big.Int) []op.Call {
	at := w.Network.Pins.Escrow
	token, isToken := a.Token()
	data := w.DepositData(escrow.Deposit{QuoteID: [32]byte(common.FromHex(w.ID)), Token: token, Amount: v,
		RefundDeadline: uint64(w.Now.Unix()) + 3600})
	if !isToken {
		return []op.Call{{To: at, Value: v, Data: data}}
	}
	return []op.Call{
		{To: token, Value: new(big.Int), Data: erc20.Approve(at, v)},
		{To: at, Value: new(big.Int), Data: data},
	}
}

// DepositData is the call of the escrow for a deposit under the terms of the world, or under those of its lie.
func (w *World) DepositData(d escrow.Deposit) []byte {
	t := w.Terms()
	if w.Lie != nil {
		w.Lie(&t)
	}
	return escrow.DepositCalldata(d, t)
}

// EarlierDeposit is the call for a deposit in the escrow of a network of version 1.
func EarlierDeposit(d escrow.Deposit) []byte {
	words := escrow.DepositCalldata(d, escrow.Terms{})[4 : 4+4*32] // all but the terms
	return append(crypto.Keccak256([]byte("deposit(bytes32,address,uint256,uint64)"))[:4], words...)
}

// Terms are what an honest service lets the deposits be released for: of a call, that the prepared operation runs and
// that what the last quote promised arrives at the account; of a trade, that its minimum arrives at the recipient.
func (w *World) Terms() escrow.Terms {
	w.T.Helper()
	if w.traded != nil {
		return *w.traded
	}
	t := escrow.Terms{TargetChain: w.Intent().ChainID(), FillDeadline: uint64(w.Now.Unix()) + 600,
		Operations: [][32]byte{w.PreparedHash()}, Minimums: w.promised}
	if t.Minimums == nil {
		t.Minimums = w.promise("225980000", map[string]string{ArbUSDC: "480000"})
	}
	return t
}

// PreparedHash is the hash of the prepared operation.
func (w *World) PreparedHash() common.Hash {
	w.T.Helper()
	wire := w.Signed
	if wire == nil {
		wire = w.PreparedOperation(w.Asked()).UserOp
	}
	u, err := op.FromWire(*wire)
	must(w.T, err)
	h, err := u.Hash(w.Network.Pins.EntryPoint, new(big.Int).SetUint64(w.Intent().ChainID()))
	must(w.T, err)
	return h
}

// promise is what arrives of a payment: all of it but the fees where only one asset is paid and required, else all that
// is required.
func (w *World) promise(originAmount string, fees map[string]string) []escrow.Minimum {
	w.T.Helper()
	out := []escrow.Minimum{}
	same := true
	for _, r := range w.Draft.TokensRequired {
		asset, err := caip.ParseAsset(r.AssetType)
		must(w.T, err)
		v, err := amount.ParseBase(r.Amount)
		if err != nil || v.Sign() == 0 {
			continue
		}
		out = append(out, escrow.Minimum{Token: asset.Word(), To: escrow.Padded(w.Account), Amount: v})
		same = same && w.aggregate(r.AssetType) == w.aggregate(w.Draft.FundWith)
	}
	slices.SortFunc(out, func(a, b escrow.Minimum) int { return bytes.Compare(a.Token[:], b.Token[:]) })
	paid, err := amount.ParseBase(originAmount)
	if len(out) != 1 || !same || err != nil {
		return out
	}
	for _, fee := range fees {
		if v, err := amount.ParseBase(fee); err == nil {
			paid.Sub(paid, v)
		}
	}
	if out[0].Amount = paid; paid.Sign() <= 0 {
		return out[:0]
	}
	return out
}

// aggregate is the aggregate that a name of an asset means.
func (w *World) aggregate(name string) string {
	a, err := caip.ParseAsset(name)
	if err != nil {
		return name
	}
	e, _ := w.Catalog.Entity(a)
	return e.Aggregate.String()
}

// QuoteResponse builds a quote that pays with the given operations; originAmount is in the funding asset's decimals.
func (w *World) QuoteResponse(originAmount string, fees map[string]string, payments ...Payment) api.Quote {
	six := 6
	q := api.Quote{
		ID: w.ID, Accounts: w.Intent().Draft().Accounts, ExpirationTimestamp: strconv.FormatInt(w.Now.Unix()+30, 10),
		TamperProofSignature: "0x" + strings.Repeat("cd", 65),
		OriginToken:          api.OriginToken{AggregatedAssetID: w.Draft.FundWith, Amount: originAmount},
		DestinationToken: api.DestinationToken{
			AggregatedAssetID: "ob:usdc", AssetType: BaseUSDC, Amount: "250500000", MinimumAmount: "250500000",
			FiatValue: "250.45", MinimumFiatValue: "250.45",
			Symbol: "USDC", Name: "USD Coin", Decimals: &six, RecipientAccount: "eip155:8453:" + w.Account.Hex(),
		},
		Slippage: &api.Slippage{Origin: api.SlippageSide{Percent: "0.50", USD: "1.13", Value: "1127500"},
			Destination: api.SlippageSide{Percent: "0", USD: "0", Value: "0"}},
		Fees: &api.Fees{Assets: fees, CumulativeUSD: "0.48"},
	}
	w.promised = w.promise(originAmount, fees)
	for _, p := range payments {
		q.OriginChainsOperations = append(q.OriginChainsOperations, w.Deposit(p))
		q.OriginToken.AssetType = append(q.OriginToken.AssetType, p.Asset)
		q.OriginToken.FiatValue = append(q.OriginToken.FiatValue,
			api.TokenFiat{AssetType: p.Asset, Amount: strconv.FormatInt(p.Amount, 10), FiatValue: "100.00"})
	}
	return q
}

// CrossChain is the golden quote: 225.50 USDC are missing on Base, two chains pay them and 0.48 of fees.
func (w *World) CrossChain() api.Quote {
	return w.QuoteResponse("225980000", map[string]string{ArbUSDC: "300000", OpUSDC: "180000"},
		Payment{ArbUSDC, 125_980_000, 4, false}, Payment{OpUSDC, 100_000_000, 0, true})
}

// SameChain is the quote of a call that needs no funding.
func (w *World) SameChain() api.Quote {
	q := w.QuoteResponse("250500000", map[string]string{})
	q.OriginChainsOperations = []api.ChainOperation{w.PreparedOperation(w.Asked())}
	q.OriginToken.AssetType = []string{BaseUSDC}
	q.Fees.CumulativeUSD = "0.00"
	w.Alone = true
	return q
}

// Trade makes the world's intent a swap or a transfer that pays 100 USDC from two chains, and returns its quote: for
// fees of 0.50, value of an asset arrives at an account, and no less than least.
func (w *World) Trade(kind, asset string, to caip.Account, value, least string) api.Quote {
	w.T.Helper()
	a, err := caip.ParseAsset(asset)
	e, ok := w.Catalog.Entity(a)
	atLeast, err2 := amount.ParseBase(least)
	if err != nil || err2 != nil || !ok {
		w.T.Fatal(asset, least)
	}
	d := &w.Draft
	d.Kind, d.TargetChain, d.Calls, d.TokensRequired, d.FundWith, d.SlippageBps = kind, "", nil, nil, "", 200
	d.Pay, d.Receive = &intent.Pay{Asset: "ob:usdc", Amount: "100000000"},
		&intent.Receive{Asset: asset, Account: to.Display()}
	w.traded = &escrow.Terms{FillDeadline: uint64(w.Now.Unix()) + 600,
		Minimums: []escrow.Minimum{{Token: a.Word(), To: to.Word(), Amount: atLeast}}}
	w.traded.TargetChain, _ = a.Chain.EVMID()
	q := w.QuoteResponse("100000000", map[string]string{ArbUSDC: "500000"}, Payment{ArbUSDC, 60_000_000, 4, false},
		Payment{OpUSDC, 40_000_000, 0, true})
	q.OriginToken.AggregatedAssetID, q.Slippage = d.Pay.Asset, nil
	q.DestinationToken = api.DestinationToken{AggregatedAssetID: caip.Single.String(), AssetType: a.String(),
		Amount: value, MinimumAmount: least, Symbol: e.Symbol, Decimals: &e.Decimals, RecipientAccount: to.Display()}
	return q
}

// TokenOf is the token contract of an asset.
func TokenOf(asset string) common.Address {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return common.Address{}
	}
	t, _ := a.Token()
	return t
}

// HexOf writes bytes with 0x.
func HexOf(b []byte) string { return "0x" + common.Bytes2Hex(b) }

// KeyOf derives a worthless test key from a label.
func KeyOf(label string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(label)))
	if err != nil {
		panic(err)
	}
	return k
}

// must ends the test with an error that is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
