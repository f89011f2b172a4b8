package verify_test

import (
	"fmt"
	"math/big"
	"math/rand"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// lie changes what a service builds an answer from; call data, typed data, accounts and amounts then agree with each
// other.
type lie struct {
	name string
	tell func(w *world, rng *rand.Rand)
}

func lies() []lie {
	random := func(rng *rand.Rand) common.Address {
		var a common.Address
		rng.Read(a[:])
		return a
	}
	return []lie{
		{"recipient", func(w *world, rng *rand.Rand) {
			w.Draft.Calls[0].Data = golden.HexOf(erc20.Transfer(random(rng), big.NewInt(250_500_000)))
		}},
		{"amount", func(w *world, rng *rand.Rand) {
			v := big.NewInt(rng.Int63n(250_499_999) + 1)
			w.Draft.Calls[0].Data = golden.HexOf(erc20.Transfer(common.HexToAddress(payee), v))
			w.Draft.TokensRequired[0].Amount = v.String()
		}},
		{"one byte of the data", func(w *world, rng *rand.Rand) {
			data := common.FromHex(w.Draft.Calls[0].Data)
			data[4+rng.Intn(len(data)-4)] ^= byte(1 + rng.Intn(255))
			w.Draft.Calls[0].Data = golden.HexOf(data)
		}},
		{"target", func(w *world, rng *rand.Rand) { w.Draft.Calls[rng.Intn(2)].To = random(rng).Hex() }},
		{"native value", func(w *world, rng *rand.Rand) { w.Draft.Calls[1].Value = fmt.Sprint(8 + rng.Int63()) }},
		{"another call", func(w *world, rng *rand.Rand) {
			w.Draft.Calls = append(w.Draft.Calls, w.Draft.Calls[rng.Intn(2)])
		}},
		{"an approval", func(w *world, rng *rand.Rand) {
			w.Draft.Allowances = []api.AllowanceRequirement{
				{AssetType: baseUSDC, Amount: fmt.Sprint(1 + rng.Int63()), Spender: random(rng).Hex()}}
		}},
		{"account of another key", func(w *world, rng *rand.Rand) {
			other := golden.KeyOf(fmt.Sprint("mallory ", rng.Int()))
			w.Signer = addressOf(other)
			w.Account = op.PredictAddress(w.Network.Pins.Factory, w.Network.Pins.KernelV31,
				op.InitDataECDSA(w.Network.Pins.ECDSAValidator, w.Signer), new(big.Int))
			w.Draft.Accounts[0].SignerAddress, w.Draft.Accounts[0].AccountAddress = w.Signer.Hex(), w.Account.Hex()
		}},
		{"another chain", func(w *world, rng *rand.Rand) {
			w.Draft.TargetChain = []string{"eip155:1", "eip155:10", "eip155:42161"}[rng.Intn(3)]
			w.Draft.TokensRequired = nil
		}},
		{"another token", func(w *world, _ *rand.Rand) {
			w.Draft.TokensRequired[0].AssetType = "eip155:8453/slip44:60"
		}},
		{"foreign pins", func(w *world, rng *rand.Rand) {
			switch rng.Intn(4) {
			case 0:
				w.Network.Pins.ECDSAValidator = random(rng)
			case 1:
				w.Network.Pins.Paymaster = random(rng)
			case 2:
				w.Network.Pins.MetaFactory = random(rng)
			case 3:
				w.Network.Pins.Factory = random(rng)
			}
			w.Deploy = true
		}},
	}
}

func TestConsistentLiesAboutTheCallAreRefused(t *testing.T) {
	rng := rand.New(rand.NewSource(11))
	honest := newWorld(t)
	honest.Freeze()
	total := 0
	for _, l := range lies() {
		for range 60 {
			w := newWorld(t)
			l.tell(w, rng)
			doc := w.Document(w.tampered())
			p, r := honest.prepared(doc)
			if p != nil || !r.Refused() {
				t.Fatalf("%s: accepted %s", l.name, doc.Raw())
			}
			for _, x := range r.Reasons {
				if x.Level == verify.Refuse && x.Code == "L3" {
					t.Fatalf("%s: refused for its form only: %+v", l.name, x)
				}
			}
			total++
		}
	}
	t.Logf("%d consistent lies refused", total)
}

// tampered builds an answer without asking the rules of an intent.
func (w *world) tampered() api.PrepareResponse {
	chainID := uint64(8453)
	if _, err := fmt.Sscanf(w.Draft.TargetChain, "eip155:%d", &chainID); err != nil {
		w.T.Fatal(err)
	}
	calls := w.Asked()
	for _, a := range w.Draft.Allowances {
		v, _ := new(big.Int).SetString(a.Amount, 10)
		open := op.Call{To: golden.TokenOf(a.AssetType), Value: new(big.Int),
			Data: erc20.Approve(common.HexToAddress(a.Spender), v)}
		shut := op.Call{To: open.To, Value: new(big.Int),
			Data: erc20.Approve(common.HexToAddress(a.Spender), new(big.Int))}
		calls = append(append([]op.Call{open}, calls...), shut)
	}
	asset, amount := fmt.Sprintf("eip155:%d/slip44:60", chainID), "0"
	if len(w.Draft.TokensRequired) > 0 {
		asset, amount = w.Draft.TokensRequired[0].AssetType, w.Draft.TokensRequired[0].Amount
	}
	return api.PrepareResponse{
		Accounts: w.Draft.Accounts, ChainOperation: w.Operation(chainID, op.LanePrepared, 0, w.Deploy, calls, asset,
			amount),
		TamperProofSignature: "0xab", CallType: w.CallType,
	}
}

func TestConsistentLiesAboutTheFundingAreRefused(t *testing.T) {
	rng := rand.New(rand.NewSource(12))
	w := newWorld(t)
	w.Freeze()
	s := w.signed()
	total := 0
	for i := range 600 {
		evil := newWorld(t)
		evil.Freeze()
		payments := []golden.Payment{{Asset: arbUSDC, Amount: 125_980_000, Sequence: 4},
			{Asset: opUSDC, Amount: 100_000_000, Deploy: true}}
		fees := map[string]string{arbUSDC: "300000", opUSDC: "180000"}
		sum := "225980000"
		switch i % 6 {
		case 0: // more than is required, every figure in agreement
			more := rng.Int63n(1e12) + 30_000_000
			payments[0].Amount += more
			sum = fmt.Sprint(225_980_000 + more)
		case 1: // the surplus is called a fee
			more := rng.Int63n(1e12) + 60_000_000
			payments[0].Amount += more
			sum, fees[arbUSDC] = fmt.Sprint(225_980_000+more), fmt.Sprint(300_000+more)
		case 2: // another asset of the user
			payments = append(payments, golden.Payment{Asset: arbETH, Amount: rng.Int63() + 1, Sequence: 9})
		case 3: // an escrow of somebody else, code and all
			rng.Read(evil.Network.Pins.Escrow[:])
		case 4: // deposits for another quote
			evil.ID = fmt.Sprintf("0x%064x", rng.Int63())
		case 5: // another account of the same service
			evil.Account = common.BigToAddress(big.NewInt(rng.Int63()))
		}
		q := evil.QuoteResponse(sum, fees, payments...)
		q.ID = quoteID
		q.DestinationToken.RecipientAccount = "eip155:8453:" + w.Account.Hex()
		doc := w.Document(q)
		if v, r := w.quote(s, doc); v != nil || !r.Refused() {
			t.Fatalf("lie %d accepted: %s", i%6, doc.Raw())
		}
		total++
	}
	t.Logf("%d consistent lies refused", total)
}
