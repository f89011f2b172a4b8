package verify_test

import (
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
	"coffer/wallet/verify"
)

const (
	baseUSDC = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	arbUSDC  = "eip155:42161/erc20:0xaf88d065e77c8cc2239327c5edb3a432268e5831"
	opUSDC   = "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85"
	baseETH  = "eip155:8453/slip44:60"
	arbETH   = "eip155:42161/slip44:60"
	payee    = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	vault    = "0x1111111111111111111111111111111111111111"
	quoteID  = "0x7c1f0000000000000000000000000000000000000000000000000000000000a1"
)

func clock() time.Time { return time.Unix(1_760_000_000, 0) }

// world is everything that a golden answer is built from: one key, one network, one intent. The builder speaks the protocol from the service's side and
// shares no code with the verifier.
type world struct {
	t        testing.TB
	catalog  *catalog.Catalog
	network  network.Descriptor
	policy   verify.Policy
	signer   common.Address
	account  common.Address
	draft    intent.Draft
	callType string
	deploy   bool
	sequence uint64
	key      string
	frozen   *intent.Intent
}

func newWorld(t testing.TB) *world {
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
	n := network.Descriptor{Version: 1, Kind: network.Embedded, Chains: []string{"eip155:8453"}, Genesis: map[string]string{}, Pins: network.Pins{
		EntryPoint: a(pins.EntryPoint), Paymaster: a(pins.Paymaster), Escrow: a(pins.Escrow), KernelV31: a(pins.KernelV31Implementation),
		KernelV33: a(pins.KernelV33Delegate), Factory: a(pins.Factory), MetaFactory: a(pins.MetaFactory), ECDSAValidator: a(pins.ECDSAValidator),
		RoleBasedValidator: a(pins.RoleBasedValidator), Operator: a("0x5"), Solver: a("0x6"), CoSigner: a("0x7"), TamperProof: a("0x8"),
	}}
	if n, err = n.WithID(); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, catalog: c, network: n, policy: verify.DefaultPolicy(n, c), callType: api.CallCrossChain, key: "golden key"}
	w.signer = crypto.PubkeyToAddress(keyOf(w.key).PublicKey)
	init := op.InitDataECDSA(n.Pins.ECDSAValidator, w.signer)
	w.account = op.PredictAddress(n.Pins.Factory, n.Pins.KernelV31, init, new(big.Int))
	w.draft = intent.Draft{
		Version: 1, Network: n.ID, TargetChain: "eip155:8453", SlippageBps: 50,
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: w.signer.Hex(), AccountAddress: w.account.Hex(), DeploymentType: "ERC4337"}},
		Calls: []intent.Call{
			{To: tokenOf(baseUSDC).Hex(), Data: hexOf(erc20.Transfer(a(payee), big.NewInt(250_500_000)))},
			{To: vault, Value: "7", Data: "0x"},
		},
		TokensRequired: []api.TokenRequirement{{AssetType: baseUSDC, Amount: "250500000"}},
		FundWith:       "ob:usdc",
	}
	return w
}

func (w *world) intent() intent.Intent {
	if w.frozen != nil {
		return *w.frozen
	}
	in, err := intent.Freeze(w.draft, api.Rules{Catalog: w.catalog, Now: clock()})
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// freeze keeps the intent as it is now.
func (w *world) freeze() *world {
	in := w.intent()
	w.frozen = &in
	return w
}

// asked returns the user's calls as the chain sees them.
func (w *world) asked() []op.Call {
	var calls []op.Call
	for _, c := range w.draft.Calls {
		v, _ := api.ParseWei(c.Value)
		calls = append(calls, op.Call{To: common.HexToAddress(c.To), Value: v, Data: common.FromHex(c.Data)})
	}
	return calls
}

// operation builds a wire operation the way the service does.
func (w *world) operation(chainID uint64, lane uint16, sequence uint64, deploy bool, calls []op.Call, asset, amount string) api.ChainOperation {
	w.t.Helper()
	data, err := op.EncodeExecute(calls)
	if err != nil {
		w.t.Fatal(err)
	}
	pins := w.network.Pins
	now := uint64(clock().Unix())
	pm := pins.Paymaster
	u := op.UserOp{
		Sender: w.account, Nonce: op.Nonce{Validator: pins.ECDSAValidator, Key: lane, Sequence: sequence}.Big(), CallData: data,
		CallGasLimit: big.NewInt(400_000), VerificationGasLimit: big.NewInt(300_000), PreVerificationGas: new(big.Int), MaxFeePerGas: new(big.Int),
		MaxPriorityFeePerGas: new(big.Int), Paymaster: &pm, PaymasterVerificationGasLimit: big.NewInt(60_000), PaymasterPostOpGasLimit: new(big.Int),
		PaymasterData: op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: now + 600, ValidAfter: now}, make([]byte, 65)),
	}
	if deploy {
		f := pins.MetaFactory
		u.Factory, u.FactoryData = &f, op.FactoryData(pins.Factory, op.InitDataECDSA(pins.ECDSAValidator, w.signer), new(big.Int))
	}
	wire := u.Wire()
	d := op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: chainID, VerifyingContract: pins.ECDSAValidator}
	td := d.ApproveWire(op.CallDataAndNonceHash(w.account, data, u.Nonce))
	return api.ChainOperation{UserOp: &wire, TypedDataToSign: &td, AssetType: asset, Amount: amount}
}

func (w *world) preparedOperation(calls []op.Call) api.ChainOperation {
	asset, amount := baseETH, "0"
	if len(w.draft.TokensRequired) > 0 {
		asset, amount = w.draft.TokensRequired[0].AssetType, w.draft.TokensRequired[0].Amount
	}
	return w.operation(w.intent().ChainID(), op.LanePrepared, w.sequence, w.deploy, calls, asset, amount)
}

func (w *world) prepareResponse() api.PrepareResponse {
	return api.PrepareResponse{
		Accounts: w.intent().Draft().Accounts, ChainOperation: w.preparedOperation(w.asked()), TamperProofSignature: "0x" + strings.Repeat("ab", 65),
		CallType: w.callType, SourceAssetBalances: []api.SourceAssetBalance{
			{AssetType: baseUSDC, Balance: "25000000", Decimals: 6, FiatValue: "24.99"},
			{AssetType: arbUSDC, Balance: "900000000", Decimals: 6, FiatValue: "899.8"},
		},
	}
}

func (w *world) document(v any) *api.Document {
	w.t.Helper()
	d, err := api.Encode(v)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) prepared(doc *api.Document) (*verify.PreparedOp, verify.Report) {
	return verify.Prepared(w.intent(), w.policy, verify.NoHistory{}, clock(), doc)
}

// signed returns a golden prepared operation together with its signature.
func (w *world) signed() *verify.SignedPrepared {
	w.t.Helper()
	p, report := w.prepared(w.document(w.prepareResponse()))
	if p == nil {
		w.t.Fatalf("golden prepare answer refused: %+v", report.Reasons)
	}
	sig, err := op.Sign(p.UserOp().Digest(), keyOf(w.key))
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := p.WithSignature(sig)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// payment is one funding operation to build.
type payment struct {
	asset    string
	amount   int64
	sequence uint64
	deploy   bool
}

func (w *world) deposit(p payment) api.ChainOperation {
	a, err := caip.ParseAsset(p.asset)
	if err != nil {
		w.t.Fatal(err)
	}
	chainID, _ := a.Chain.EVMID()
	return w.operation(chainID, op.LaneFunding, p.sequence, p.deploy, w.depositCalls(a, big.NewInt(p.amount)), p.asset, strconv.FormatInt(p.amount, 10))
}

func (w *world) depositCalls(a caip.Asset, v *big.Int) []op.Call {
	at := w.network.Pins.Escrow
	deadline := uint64(clock().Unix()) + 3600
	id := [32]byte(common.FromHex(quoteID))
	token, isToken := a.Token()
	if !isToken {
		return []op.Call{{To: at, Value: v, Data: escrow.DepositCalldata(id, token, v, deadline)}}
	}
	return []op.Call{
		{To: token, Value: new(big.Int), Data: erc20.Approve(at, v)},
		{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(id, token, v, deadline)},
	}
}

// quoteResponse builds a quote that pays with the given operations; originAmount is in the funding asset's decimals.
func (w *world) quoteResponse(originAmount string, fees map[string]string, payments ...payment) api.Quote {
	six := 6
	q := api.Quote{
		ID: quoteID, Accounts: w.intent().Draft().Accounts, ExpirationTimestamp: strconv.FormatInt(clock().Unix()+30, 10),
		TamperProofSignature: "0x" + strings.Repeat("cd", 65),
		OriginToken:          api.OriginToken{AggregatedAssetID: w.draft.FundWith, Amount: originAmount},
		DestinationToken: api.DestinationToken{
			AggregatedAssetID: "ob:usdc", AssetType: baseUSDC, Amount: "250500000", MinimumAmount: "250500000", FiatValue: "250.45", MinimumFiatValue: "250.45",
			Symbol: "USDC", Name: "USD Coin", Decimals: &six, RecipientAccount: "eip155:8453:" + w.account.Hex(),
		},
		Slippage: &api.Slippage{Origin: api.SlippageSide{Percent: "0.50", USD: "1.13", Value: "1127500"}, Destination: api.SlippageSide{Percent: "0", USD: "0", Value: "0"}},
		Fees:     &api.Fees{Assets: fees, CumulativeUSD: "0.48"},
	}
	for _, p := range payments {
		q.OriginChainsOperations = append(q.OriginChainsOperations, w.deposit(p))
		q.OriginToken.AssetType = append(q.OriginToken.AssetType, p.asset)
		q.OriginToken.FiatValue = append(q.OriginToken.FiatValue, api.TokenFiat{AssetType: p.asset, Amount: strconv.FormatInt(p.amount, 10), FiatValue: "100.00"})
	}
	return q
}

// crossChain is the golden quote: 225.50 USDC are missing on Base, two chains pay them and 0.48 of fees.
func (w *world) crossChain() api.Quote {
	return w.quoteResponse("225980000", map[string]string{arbUSDC: "300000", opUSDC: "180000"},
		payment{arbUSDC, 125_980_000, 4, false}, payment{opUSDC, 100_000_000, 0, true})
}

func (w *world) sameChain() api.Quote {
	q := w.quoteResponse("250500000", map[string]string{})
	q.OriginChainsOperations = []api.ChainOperation{w.preparedOperation(w.asked())}
	q.OriginToken.AssetType = []string{baseUSDC}
	q.Fees.CumulativeUSD = "0.00"
	return q
}

func (w *world) quote(s *verify.SignedPrepared, doc *api.Document) (*verify.VerifiedQuote, verify.Report) {
	return verify.Quote(w.intent(), w.policy, verify.NoHistory{}, clock(), s, doc)
}

func tokenOf(asset string) common.Address {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return common.Address{}
	}
	t, _ := a.Token()
	return t
}

func hexOf(b []byte) string { return "0x" + common.Bytes2Hex(b) }
