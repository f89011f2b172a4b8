package verify_test

import (
	"strconv"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

// itself is a transfer on own nodes: its message pays the recipient, and its sender pays Solana's fee.
type itself struct {
	*payment
	to    solmsg.Key
	opens bool
}

// sendsItself makes a run of SOL on the embedded network one of own nodes; with a mint it is of that token, whose
// account it opens for the recipient.
func sendsItself(t testing.TB, mint string) *itself {
	t.Helper()
	a := answer(t, "v3-transfer-on-solana")
	x := &itself{payment: a.onSolana(), opens: mint != ""}
	d := &a.policy.Network
	ownNodes(d)
	d.Deployments, d.Installation, d.Pins.SolanaSponsor, d.Pins.SolanaVault = nil, "", "", ""
	n, err := d.WithID()
	need(t, err)
	a.policy = verify.DefaultPolicy(n, a.policy.Catalog)
	a.draft.Network = n.ID
	to, err := caip.ParseAccount(a.draft.Receive.Account)
	need(t, err)
	key, _ := to.SolanaKey()
	x.to, x.payer, x.vault = solmsg.Key(key), x.user, solmsg.Key(key)
	token := &a.quote.DestinationToken
	if mint != "" {
		k, err := caip.ParseSolanaKey(mint)
		need(t, err)
		x.mint = k
		asset := caip.SPL(k).String()
		a.draft.Pay.Asset, a.draft.Receive.Asset, x.op.AssetType = asset, asset, asset
		token.AssetType, token.AggregatedAssetID, token.Symbol, token.Name = asset, "ob:single", "USDC", "USD Coin"
		*token.Decimals = 6
		a.quote.OriginToken.AggregatedAssetID, a.quote.OriginToken.AssetType = "ob:single", []string{asset}
	}
	a.draft.SlippageBps = 50
	a.quote.Slippage, a.quote.OriginToken.FiatValue = nil, nil
	a.quote.Fees.Assets, a.quote.Fees.CumulativeUSD = map[string]string{x.op.AssetType: "0"}, "0.00"
	token.Amount, token.MinimumAmount = strconv.FormatUint(x.amount, 10), strconv.FormatUint(x.amount, 10)
	x.compose(5_000, 40_000)
	return x
}

// compose writes the message with a limit and a price of compute units.
func (x *itself) compose(price uint64, units uint32) {
	x.builds = []solmsg.Build{solmsg.ComputeUnitLimit(units), solmsg.ComputeUnitPrice(price)}
	if x.opens {
		x.builds = append(x.builds, solmsg.CreateATAIdempotent(x.user, x.to, x.mint))
	}
	x.builds = append(append(x.builds, x.pay()...), solmsg.Memo(x.a.quote.ID))
	x.put()
}

const usdcMint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

func TestATransferThatPaysItsRecipientItselfIsSigned(t *testing.T) {
	for mint, costs := range map[string]string{"": "5200", usdcMint: "2044480"} {
		x := sendsItself(t, mint)
		q, r := x.a.judge(x.a.document())
		accepted(t, r)
		v := q.View()
		own := v.Itself()
		if own == nil || own.Fee.Amount.String() != "5200" || (own.Rent != nil) != (mint != "") ||
			len(v.Fees) != 1 || v.Fees[0].Amount.String() != costs || v.Fees[0].Symbol != "SOL" ||
			v.Delivered.Amount.Cmp(v.Minimum.Amount) != 0 || v.Recipient != x.to.String() || v.Legs[0].Escrow != "" {
			t.Errorf("%+v", v)
		}
		s := q.Operations()[0].Summary()
		spent := map[string]string{}
		for _, a := range s.Spend {
			spent[a.Symbol] = a.Amount.String()
		}
		if mint == "" && spent["SOL"] != "100005200" ||
			mint != "" && (spent["USDC"] != "100000000" || spent["SOL"] != costs) {
			t.Errorf("it counts %v", spent)
		}
		// The chain may be slow: nobody pays once more as long as the first one may land.
		if life := s.ValidUntil - x.a.now.Unix(); life < 200 || life > 300 {
			t.Errorf("it counts as open for %d s", life)
		}
	}
}

// Everything that could go elsewhere, or cost more, is refused by its row.
func TestS11_ATransferGoesToTheRecipientThatTheUserNamed(t *testing.T) {
	for what, c := range map[string]struct {
		code, mint string
		change     func(x *itself)
	}{
		"another recipient":          {"S11", "", func(x *itself) { x.vault = somebody(); x.compose(1, 1) }},
		"another recipient's tokens": {"S11", usdcMint, func(x *itself) { x.vault = somebody(); x.compose(1, 1) }},
		"another's token account":    {"S11", usdcMint, func(x *itself) { x.to = somebody(); x.compose(1, 1) }},
		"a token account twice": {"S9", usdcMint, func(x *itself) {
			x.builds = append([]solmsg.Build{solmsg.CreateATAIdempotent(x.user, x.to, x.mint)}, x.builds...)
			x.put()
		}},
		"a token account for SOL": {"S9", "", func(x *itself) {
			k, _ := caip.ParseSolanaKey(usdcMint)
			x.builds = append(x.builds, solmsg.CreateATAIdempotent(x.user, x.to, k))
			x.put()
		}},
		"a part of it": {"S10", "", func(x *itself) {
			x.builds[2] = solmsg.SystemTransfer(x.user, x.to, x.amount-1)
			x.put()
		}},
		"two transfers": {"S10", "", func(x *itself) { x.builds = append(x.builds, x.pay()...); x.put() }},
		"another's fee": {"S3", "", func(x *itself) { x.payer = somebody(); x.put() }},
		"a large fee":   {"S3", "", func(x *itself) { x.compose(1_000_000_000, 1_400_000) }},
		"no memo":       {"Q1", "", func(x *itself) { x.builds = x.builds[:3]; x.put() }},
		"less arrives than is sent": {"Q5", "", func(x *itself) {
			x.a.quote.DestinationToken.Amount, x.a.quote.DestinationToken.MinimumAmount = "99999999", "99999999"
		}},
		"a minimum below the amount": {"Q8", "", func(x *itself) {
			x.a.quote.DestinationToken.MinimumAmount = "99999999"
		}},
		"a fee of the service":    {"Q11", "", func(x *itself) { x.a.quote.Fees.Assets[x.op.AssetType] = "1" }},
		"fees that are not named": {"Q11", "", func(x *itself) { x.a.quote.Fees = nil }},
		"a second message": {"Q3", "", func(x *itself) {
			x.a.quote.OriginChainsOperations = append(x.a.quote.OriginChainsOperations, *x.op)
		}},
		"the sender itself": {"S11", "", func(x *itself) {
			x.a.draft.Receive.Account = caip.SolanaAccount(x.user).String()
			x.a.quote.DestinationToken.RecipientAccount = x.a.draft.Receive.Account
			x.vault = x.user
			x.compose(1, 1)
		}},
		"a swap": {"Q4", "", func(x *itself) { // which takes a solver
			x.a.draft.Kind, x.a.draft.Receive.Asset, x.a.draft.Receive.Account = "swap", "ob:usdc", ""
		}},
	} {
		t.Run(what, func(t *testing.T) {
			x := sendsItself(t, c.mint)
			c.change(x)
			x.a.t = t
			x.a.refuses(c.code)
		})
	}
}

// On a network with a solver a message that pays somebody else than the vault is none of its payments.
func TestS11_WithASolverNothingIsPaidPastTheVault(t *testing.T) {
	a := answer(t, "v3-transfer-on-solana")
	p := a.onSolana()
	to, err := caip.ParseAccount(a.draft.Receive.Account)
	need(t, err)
	key, _ := to.SolanaKey()
	p.vault = solmsg.Key(key)
	p.builds = append(p.pay(), solmsg.Memo(a.quote.ID))
	p.put()
	a.refuses("S11")
	for _, x := range a.passesNot() {
		if strings.Contains(x.Title, "recipient that you named") {
			t.Error(x.Title)
		}
	}
}

func (a *answers) passesNot() []verify.Reason {
	_, r := a.judge(a.document())
	return r.Reasons
}
