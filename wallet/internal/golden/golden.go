// Package golden builds the answers that an honest service would give, for tests of the wallet. It speaks the protocol
// (protocol §2, §3) from the service's side and shares no code with the verifier; every key in it is worthless. Amounts
// are base units.
package golden

import (
	"crypto/ecdsa"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
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

	frozen *intent.Intent
}

// New makes a world with one deployed account on Base that sends 250.5 USDC and 7 wei.
func New(t testing.TB) *World {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	pins, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
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
		}, Formulas: formulas(a(pins.RoleBasedValidator))}
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
	if err != nil {
		w.T.Fatal(err)
	}
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
	amount string) api.ChainOperation {
	w.T.Helper()
	data, err := op.EncodeExecute(calls)
	if err != nil {
		w.T.Fatal(err)
	}
	pins := w.Network.Pins
	now := uint64(w.Now.Unix())
	pm := pins.Paymaster
	u := op.UserOp{
		Sender: w.Account, Nonce: w.Nonce(lane, sequence).Big(), CallData: data,
		CallGasLimit: big.NewInt(400_000), VerificationGasLimit: big.NewInt(300_000), PreVerificationGas: new(big.Int),
		MaxFeePerGas:         new(big.Int),
		MaxPriorityFeePerGas: new(big.Int), Paymaster: &pm, PaymasterVerificationGasLimit: big.NewInt(60_000),
		PaymasterPostOpGasLimit: new(big.Int),
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
	out := api.ChainOperation{UserOp: &wire, TypedDataToSign: &td, AssetType: asset, Amount: amount}
	if nonce, asks := w.Delegates[chainID]; asks || (deploy && init == nil) {
		out.Delegation = &api.Delegation{ContractAddress: pins.KernelV33.Hex(), Nonce: nonce}
	}
	return out
}

// PreparedOperation builds the prepared operation of the given calls.
func (w *World) PreparedOperation(calls []op.Call) api.ChainOperation {
	asset, amount := BaseETH, "0"
	if len(w.Draft.TokensRequired) > 0 {
		asset, amount = w.Draft.TokensRequired[0].AssetType, w.Draft.TokensRequired[0].Amount
	}
	return w.Operation(w.Intent().ChainID(), op.LanePrepared, w.Sequence, w.Deploy, calls, asset, amount)
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
	if err != nil {
		w.T.Fatal(err)
	}
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
	if err != nil {
		w.T.Fatal(err)
	}
	chainID, _ := a.Chain.EVMID()
	return w.Operation(chainID, op.LaneFunding, p.Sequence, p.Deploy, w.DepositCalls(a, big.NewInt(p.Amount)), p.Asset,
		strconv.FormatInt(p.Amount, 10))
}

// DepositCalls are the calls that pay v of an asset into the escrow.
func (w *World) DepositCalls(a caip.Asset, v *big.Int) []op.Call {
	at := w.Network.Pins.Escrow
	deadline := uint64(w.Now.Unix()) + 3600
	id := [32]byte(common.FromHex(w.ID))
	token, isToken := a.Token()
	if !isToken {
		return []op.Call{{To: at, Value: v, Data: escrow.DepositCalldata(id, token, v, deadline)}}
	}
	return []op.Call{
		{To: token, Value: new(big.Int), Data: erc20.Approve(at, v)},
		{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(id, token, v, deadline)},
	}
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
