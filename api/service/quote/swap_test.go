package quote_test

import (
	"context"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	. "coffer/api/service/settle/settletest"
)

// plain is a whole number of tokens with six decimals.
func plain(n int64) *big.Int { return big.NewInt(n * usdcPlain) }

func onChain(chainID uint64, a common.Address) string { return caip.EVMAccount(chainID, a).String() }

func TestSwapIsExactInputWithMinimumAndTolerance(t *testing.T) {
	w := funded(t)
	w.Fund(w.User.Address, w.Asset("usdc", Optimism), 10*usdcPlain)
	q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(200), Get: "ob:eth", Slippage: 150}))
	if q.OriginToken.Amount != "200000000" || q.OriginToken.AggregatedAssetID != "ob:usdc" ||
		len(q.OriginChainsOperations) != 2 {
		t.Errorf("%+v", q.OriginToken)
	}
	d := q.DestinationToken
	// most is paid on Arbitrum, which has ETH
	if d.AssetType != caip.Native(Arbitrum).String() || d.AggregatedAssetID != "ob:eth" ||
		d.RecipientAccount != "eip155:42161:"+w.User.Address.Hex() ||
		d.Symbol != "ETH" || d.Name != "Ether" || *d.Decimals != 18 {
		t.Errorf("%+v", d)
	}
	got, _ := new(big.Int).SetString(d.Amount, 10)
	minimum := new(big.Int).Quo(new(big.Int).Mul(got, big.NewInt(9_850)), big.NewInt(10_000))
	if d.MinimumAmount != minimum.String() || d.MinimumFiatValue == "" || d.MinimumFiatValue >= d.FiatValue {
		t.Errorf("minimum %s, expected %s", d.MinimumAmount, minimum)
	}
	side := q.Slippage.Destination
	if side.Percent != "1.5" || side.Value != new(big.Int).Sub(got, minimum).String() || side.USD == "" ||
		q.Slippage.Origin.Percent != "0" {
		t.Errorf("%+v", q.Slippage)
	}
	r := record(w, q.ID)
	if r.HasPrepared() || r.Type != api.RecordSwap || r.Minimum.Cmp(minimum) != 0 || r.ChainID != Arbitrum ||
		r.Version != 0 ||
		len(r.Fills) != 1 || r.Fills[0].Delivers.Value.Cmp(got) != 0 || !r.Fills[0].Swapped ||
		r.Recipient != onChain(Arbitrum, w.User.Address) {
		t.Errorf("%+v", r)
	}
	checkNumbers(t, w.Swap(Exchange{From: "ob:usdc", Amount: plain(20), Get: "ob:eth"}))
}

func TestDestinationEntityFollowsRecipientThenPayingChainThenTheList(t *testing.T) {
	w := funded(t) // most USDC is on Arbitrum
	for _, c := range []struct{ get, to, want string }{
		{"ob:eth", "", caip.Native(Arbitrum).String()},
		{"ob:eth", onChain(Linea, payee()), caip.Native(Linea).String()},
		{w.Asset("usdt", Optimism).String(), "", w.Asset("usdt", Optimism).String()},
		{"ob:pol", "", w.Asset("pol", Ethereum).String()}, // not on Arbitrum, so the first in the list
		{"ob:avax", "", caip.Native(Avalanche).String()},
	} {
		q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(50), Get: c.get, To: c.to}))
		if q.DestinationToken.AssetType != c.want {
			t.Errorf("%+v gives %s", c, q.DestinationToken.AssetType)
		}
		if exact := strings.Contains(c.get, "/"); (q.DestinationToken.AggregatedAssetID == "ob:single") != exact {
			t.Errorf("%s is called %s", c.get, q.DestinationToken.AggregatedAssetID)
		}
	}
	q := w.Decode(w.Swap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(50), Get: "ob:usdt"}))
	if q.OriginToken.AggregatedAssetID != "ob:single" || len(q.OriginChainsOperations) != 1 ||
		q.DestinationToken.AssetType != w.Asset("usdt", Polygon).String() {
		t.Errorf("%+v", q.OriginToken)
	}
}

func TestTransferNeedsARecipientAndIsOne(t *testing.T) {
	w := funded(t)
	_, err := w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(50), Get: "ob:usdc"})
	if e := Refused(t, err, api.ErrValidation); e.Details[0].Path != "to.account" {
		t.Errorf("%+v", e.Details)
	}
	q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(50), Get: "ob:usdc", To: onChain(Optimism, payee())}))
	if r := record(w, q.ID); r.Type != api.RecordTransfer || r.Fills[0].Swapped ||
		r.RecipientAccount().Address != strings.ToLower(payee().Hex()) {
		t.Errorf("%+v", r)
	}
	paid, _ := new(big.Int).SetString(q.OriginToken.Amount, 10)
	for _, fee := range q.Fees.Assets {
		v, _ := new(big.Int).SetString(fee, 10)
		paid.Sub(paid, v)
	}
	if paid.String() != q.DestinationToken.Amount {
		t.Errorf("paid − fees = %s, delivered %s", paid, q.DestinationToken.Amount)
	}
}

// TestFromOneChainToAnotherTheOwnAccountReceives: clients that move money between the chains of an account name nobody.
func TestFromOneChainToAnotherTheOwnAccountReceives(t *testing.T) {
	w := funded(t) // 120 on Arbitrum
	from, to := w.Asset("usdc", Arbitrum).String(), w.Asset("usdc", Base).String()
	q := w.Decode(w.Swap(Exchange{From: from, Amount: plain(50), Get: to}))
	if r := record(w, q.ID); r.Type != api.RecordTransfer || q.DestinationToken.AssetType != to ||
		r.RecipientAccount().Address != strings.ToLower(w.User.Address.Hex()) {
		t.Errorf("%+v", r)
	}
	_, err := w.TrySwap(Exchange{From: from, Amount: plain(50), Get: from})
	Refused(t, err, api.ErrValidation)
}

func TestWhatIsDeliveredToOneselfDoesNotPayForItself(t *testing.T) {
	w := funded(t) // 25 on Base, 120 on Arbitrum, 90 on Polygon
	q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(200), Get: "ob:usdc",
		To: onChain(Base, w.User.Address)}))
	if slices.Contains(q.OriginToken.AssetType, w.Asset("usdc", Base).String()) {
		t.Errorf("%v", q.OriginToken.AssetType)
	}
	_, err := w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(220), Get: "ob:usdc",
		To: onChain(Base, w.User.Address)})
	Refused(t, err, api.ErrInsufficientBalance)
	q = w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(220), Get: "ob:usdc", To: onChain(Base, payee())}))
	if !slices.Contains(q.OriginToken.AssetType, w.Asset("usdc", Base).String()) {
		t.Errorf("a transfer to somebody else leaves %v out", q.OriginToken.AssetType)
	}
}

func TestSwapRefusals(t *testing.T) {
	w := funded(t)
	none := new(big.Int)
	for name, c := range map[string]struct {
		x     Exchange
		want  string
		words string
	}{
		"zero address": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:usdc",
			To: onChain(Base, common.Address{})}, api.ErrValidation, "to.account"},
		"zero key": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:sol",
			To: caip.SolanaAccount([32]byte{}).String()}, api.ErrValidation, "to.account"},
		"chain without the asset": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:pol",
			To: onChain(Base, payee())}, api.ErrValidation, "to.account"},
		"another chain's account": {Exchange{From: "ob:usdc", Amount: plain(5), Get: caip.Native(Base).String(),
			To: onChain(Linea, payee())}, api.ErrValidation, "to.account"},
		"no account of one's own": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:sol"}, api.ErrValidation,
			"to.account"},
		"no amount": {Exchange{From: "ob:usdc", Amount: none, Get: "ob:eth"}, api.ErrValidation,
			"from.amount"},
		"unknown asset": {Exchange{From: "ob:nothing", Amount: plain(5), Get: "ob:eth"}, api.ErrValidation,
			"from.asset.assetId"},
		"not enough": {Exchange{From: "ob:usdc", Amount: plain(5000), Get: "ob:eth"},
			api.ErrInsufficientBalance, "needed 5000 USDC, available 235 USDC"},
		"less than its fees": {Exchange{From: "ob:usdc", Amount: big.NewInt(100), Get: "ob:eth",
			To: onChain(Ethereum, payee())}, api.ErrNoRoute, "not more than its fees"},
		"nobody's address": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:eth",
			To: onChain(Base, common.HexToAddress("0x100"))}, api.ErrValidation, "to.account"},
		"it is there already": {Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(5),
			Get: w.Asset("usdc", Polygon).String(), To: onChain(Polygon, w.User.Address)}, api.ErrValidation,
			"to.account"},
		"unpriced": {Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:zero"}, api.ErrNoRoute, "no price"},
		"nothing of it": {Exchange{From: "ob:eth", Amount: big.NewInt(1e15), Get: "ob:usdc"},
			api.ErrInsufficientBalance, "available 0 ETH"},
		"Solana pays alone": {Exchange{From: caip.SOL().String(), Amount: big.NewInt(1e9), Get: "ob:usdc"},
			api.ErrValidation, "from.asset.assetId"},
	} {
		_, err := w.TrySwap(c.x)
		if e := asError(err); e == nil || e.Name != c.want || !strings.Contains(e.Message, c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecipientThatTakesNoCoinsIsNoRoute(t *testing.T) {
	w := funded(t)
	// the entry point's helper, a contract that cannot be paid
	creator := common.HexToAddress("0xEFC2c1444eBCC4Db75e7613d20C6a62fF67A167C")
	_, err := w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(5), Get: "ob:eth", To: onChain(Base, creator)})
	Refused(t, err, api.ErrNoRoute)
}

func TestSwapBeyondTheSolversInventoryIsNoRoute(t *testing.T) {
	w := New(t, Options{})
	for _, id := range []uint64{Arbitrum, Polygon, Optimism} {
		w.FundBig(w.User.Address, w.Asset("usdc", id), plain(190_000_000))
	}
	_, err := w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(560_000_000), Get: w.Asset("usdt", Arbitrum).String()})
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Message, "no solver") {
		t.Error(e.Message)
	}
}

func TestSwapOperationsDepositInTheFundingLaneAndDeploy(t *testing.T) {
	for n, kind := range evmKinds() {
		w := as(New(t, Options{}), kind, uint64(n+30), map[uint64]int64{Arbitrum: 120, Polygon: 90})
		doc := w.Swap(Exchange{From: "ob:usdc", Amount: plain(200), Get: "ob:eth"}) // to Arbitrum, where it is paid too
		q := w.Decode(doc)
		checkNumbers(t, doc)
		delegated := strings.HasPrefix(kind, api.AccountKernelV33)
		sum := new(big.Int)
		for _, o := range q.OriginChainsOperations {
			u := userOp(t, o)
			lane, err := op.ParseNonce(u.Nonce)
			Must(t, err)
			calls := callsOf(t, o)
			d, terms, ok := escrow.DecodeDeposit(calls[len(calls)-1].Data)
			if !ok || common.Hash(d.QuoteID).Hex() != q.ID || d.Amount.String() != o.Amount ||
				lane.Key != op.LaneFunding {
				t.Errorf("%s: %+v", kind, d)
			}
			m := terms.Minimums
			if len(terms.Operations) != 0 || len(m) != 1 || m[0].To != escrow.Padded(w.User.Address) ||
				m[0].Amount.String() != q.DestinationToken.MinimumAmount || terms.TargetChain != Arbitrum {
				t.Errorf("%s: terms %+v", kind, terms)
			}
			if (u.Factory != nil) == delegated || (o.Delegation != nil) != delegated {
				t.Errorf("%s: factory %t, delegation %t", kind, u.Factory != nil, o.Delegation != nil)
			}
			sum.Add(sum, d.Amount)
		}
		if sum.Cmp(plain(200)) != 0 || len(q.OriginChainsOperations) != 2 {
			t.Errorf("%s: deposits of %s", kind, sum)
		}
	}
}

func TestSolanaIsEitherSideOfASwapOrTransfer(t *testing.T) {
	for n, kind := range Kinds() {
		if kind != api.AccountSolana && !strings.HasSuffix(kind, WithSolana) {
			continue
		}
		w := as(New(t, Options{}), kind, uint64(n+40), map[uint64]int64{Solana: 100})
		other := NewUserOf(w.Installation.Pins, api.AccountSolana, 77).Wallet
		there := caip.SolanaAccount(other).String()
		w.FundSolana(w.User.Wallet, caip.SOL(), 3e9)
		exchanges := []Exchange{
			{From: "ob:usdc", Amount: plain(40), Get: "ob:eth", To: onChain(Base, payee())},
			{From: "ob:sol", Amount: big.NewInt(1e9), Get: w.Asset("usdc", Arbitrum).String(),
				To: onChain(Arbitrum, payee())},
			{From: "ob:usdc", Amount: plain(40), Get: "ob:usdc", To: there},
			{From: "ob:usdc", Amount: plain(40), Get: "ob:sol"},
			{From: caip.SOL().String(), Amount: big.NewInt(1e9), Get: "ob:sol", To: there},
		}
		for _, x := range exchanges {
			doc := w.Swap(x)
			q := w.Decode(doc)
			checkNumbers(t, doc)
			for _, o := range q.OriginChainsOperations {
				checkSolanaDeposit(t, w, q, o)
			}
			r := record(w, q.ID)
			if r.SolanaOwner != w.User.Wallet.String() || r.Legs[0].ChainID != 0 ||
				r.Legs[0].Message != q.OriginChainsOperations[0].DataToSign ||
				r.Target().String()+":"+strings.SplitN(q.DestinationToken.RecipientAccount, ":",
					3)[2] != q.DestinationToken.RecipientAccount {
				t.Errorf("%s %+v: %+v", kind, x, r)
			}
		}
		if !w.User.HasEVM() {
			continue
		}
		w.Fund(w.User.Address, w.Asset("usdc", Polygon), 500*usdcPlain)
		q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(560), Get: "ob:sol"})) // both pay, Solana receives
		if len(q.OriginChainsOperations) != 2 ||
			q.DestinationToken.RecipientAccount != caip.SolanaAccount(w.User.Wallet).String() {
			t.Errorf("%s: %+v", kind, q.DestinationToken)
		}
	}
}

func TestRentOfANewTokenAccountIsPartOfTheFee(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31, 3, map[uint64]int64{Polygon: 100})
	to := NewUserOf(w.Installation.Pins, api.AccountSolana, 77).Wallet
	ask := Exchange{From: "ob:usdc", Amount: plain(40), Get: w.Asset("usdc", Solana).String(),
		To: caip.SolanaAccount(to).String()}
	fee := func() int64 {
		v, err := strconv.ParseInt(w.Decode(w.Swap(ask)).Fees.Assets[w.Asset("usdc", Polygon).String()], 10, 64)
		Must(t, err)
		return v
	}
	before := fee()
	w.FundSolana(to, w.Asset("usdc", Solana), 1)
	// 0.002 SOL of rent at some 168 dollars
	if d := before - fee(); d < 300_000 || d > 400_000 {
		t.Errorf("the rent adds %d", d)
	}
}

func TestCoinsBelowTheRentMinimumDoNotOpenAnAccount(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31, 3, map[uint64]int64{Polygon: 100})
	to := NewUserOf(w.Installation.Pins, api.AccountSolana, 78).Wallet
	ask := Exchange{From: "ob:usdc", Amount: big.NewInt(140_000), Get: "ob:sol", To: caip.SolanaAccount(to).String()}
	_, err := w.TrySwap(ask) // 0.14 dollars are less than 890 880 lamports
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Message, "0.00089088 SOL") {
		t.Error(e.Message)
	}
	w.FundSolana(to, caip.SOL(), 1e9)
	w.Swap(ask)
}

// TestWhatARecipientHasPledgedKeepsNoAccountOpen: once the recipient's own quote has emptied the account, what arrives
// must open it again.
func TestWhatARecipientHasPledgedKeepsNoAccountOpen(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV31, 3, map[uint64]int64{Polygon: 100})
	payer, recipient := w.User, NewUserOf(w.Installation.Pins, api.AccountSolana, 79)
	w.FundSolana(recipient.Wallet, caip.SOL(), 1e9)
	ask := Exchange{From: "ob:usdc", Amount: big.NewInt(140_000), Get: "ob:sol",
		To: caip.SolanaAccount(recipient.Wallet).String()}
	w.Swap(ask)
	w.User = recipient
	acceptOffer(w, w.Decode(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(1e9), Get: "ob:usdc",
		To: onChain(Polygon, payee())})).ID)
	w.User = payer
	_, err := w.TrySwap(ask)
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Message, "0.00089088 SOL") {
		t.Error(e.Message)
	}
}

func TestSwapOfAnUnservedSourceSaysWhy(t *testing.T) {
	w := as(New(t, Options{}), api.AccountKernelV33, 3, map[uint64]int64{Polygon: 100})
	delegateTo(w, Polygon, w.Installation.Pins.ECDSAValidator)
	_, err := w.TrySwap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(40), Get: "ob:eth"})
	Refused(t, err, api.ErrDelegation)
	_, err = w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(40), Get: "ob:eth"})
	if e := Refused(t, err, api.ErrInsufficientBalance); !strings.Contains(e.Message,
		"100 USDC on eip155:137 cannot pay: ") {
		t.Error(e.Message)
	}
}

func TestV1SwapIsAnsweredInTheV1Form(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 5, map[uint64]int64{Arbitrum: 300})
	account := w.User.Account
	account.Type = ""
	doc, err := w.Quoter.QuoteV1(context.Background(), w.Encode(api.QuoteRequestV1{
		From: api.QuoteFromV1{Account: account, Asset: api.AssetRef{AssetID: "ob:usdc"}, Amount: "100000000"},
		To:   api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:eth"}},
	}))
	Must(t, err)
	names, _ := doc.Members("")
	if got := strings.Join(names, " "); got !=
		"id account originChainsOperations originToken destinationToken expirationTimestamp tamperProofSignature" {
		t.Error(got)
	}
	q := decodeV1(t, doc)
	if q.Account.Type != api.AccountRoleBased || q.DestinationToken.MinimumAmount == "" {
		t.Errorf("%+v", q)
	}
	if r := record(w, q.ID); r.Version != 1 || r.SlippageBps != 200 {
		t.Errorf("%+v", r)
	}
	checkNumbers(t, doc)
}

func TestPledgesCountAcrossSwaps(t *testing.T) {
	w := funded(t)
	first := w.Decode(w.Swap(Exchange{From: w.Asset("usdc", Arbitrum).String(), Amount: plain(100), Get: "ob:eth"}))
	acceptOffer(w, first.ID)
	_, err := w.TrySwap(Exchange{From: w.Asset("usdc", Arbitrum).String(), Amount: plain(30), Get: "ob:eth"})
	if e := Refused(t, err, api.ErrInsufficientBalance); !strings.Contains(e.Message, "available 20 USDC") {
		t.Error(e.Message)
	}
}
