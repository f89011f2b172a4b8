package quote_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/chain"
	. "coffer/api/service/settle/settletest"
)

// rule lets the admin of the world's role-based user change the account on a chain, deploying it first.
func rule(w *World, chainID uint64, action string, session common.Address) {
	w.TB.Helper()
	pins := w.Installation.Pins
	m := op.AdminMessage{Action: action, Account: w.User.Address, NewSession: session, Nonce: new(big.Int)}
	digest, err := m.Digest(op.RoleBasedDomain(chainID, pins.RoleBasedValidator))
	Must(w.TB, err)
	sig, err := op.Sign(digest, w.User.Admin)
	Must(w.TB, err)
	data, err := m.Call(sig)
	Must(w.TB, err)
	signer, admin := crypto.PubkeyToAddress(w.User.Key.PublicKey), crypto.PubkeyToAddress(w.User.Admin.PublicKey)
	init := op.InitDataRoleBased(pins.RoleBasedValidator, signer, admin, pins.CoSigner)
	_, err = w.Installation.Chains[chainID].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{
			{From: w.Installation.Operator, To: pins.MetaFactory,
				Data: op.FactoryData(pins.Factory, init, new(big.Int))},
			{From: w.Installation.Operator, To: pins.RoleBasedValidator, Data: data},
		},
	})
	Must(w.TB, err)
}

func TestReplacedSessionKeyEndsWhatItsChainCanPayAndCall(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 6, map[uint64]int64{Base: 100, Polygon: 500, Arbitrum: 50})
	_, before := prepared(t, w, pay(w, Base, 20*usdcPlain))
	rule(w, Polygon, api.AdminRotateSession, payee())
	p, _ := prepared(t, w, pay(w, Base, 120*usdcPlain))
	for _, b := range p.SourceAssetBalances {
		if strings.HasPrefix(b.AssetType, "eip155:137/") {
			t.Errorf("%s is no source any more", b.AssetType)
		}
	}
	_, err := w.Prepare(pay(w, Base, 200*usdcPlain))
	if e := Refused(t, err, api.ErrInsufficientBalance); !strings.Contains(e.Message,
		"500 USDC on eip155:137 cannot pay: ") ||
		!strings.Contains(e.Message, "replaced there by "+payee().Hex()) || strings.Contains(e.Message, "eip155:1 ") {
		t.Error(e.Message)
	}
	_, err = w.TrySwap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(50), Get: "ob:eth"})
	Refused(t, err, api.ErrValidation)

	rule(w, Base, api.AdminRotateSession, payee())
	_, err = w.Prepare(pay(w, Base, 20*usdcPlain))
	e := Refused(t, err, api.ErrValidation)
	if e.Details[0].Path != "accounts[0].sessionAddress" || !strings.Contains(e.Details[0].Expected, "replaced") {
		t.Errorf("%+v", e.Details)
	}
	_, err = callQuoteAs(w, before)
	Refused(t, err, api.ErrValidation)
	_, err = w.PrepareV1(pay(w, Base, 20*usdcPlain))
	if e := Refused(t, err, api.ErrValidation); e.Details[0].Path != "account.sessionAddress" {
		t.Errorf("%+v", e.Details)
	}
}

func TestAnnouncedExitEndsWhatItsChainCanPayAndCall(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 6, map[uint64]int64{Base: 100, Polygon: 500})
	rule(w, Polygon, api.AdminAnnounceExit, common.Address{})
	p, _ := prepared(t, w, pay(w, Base, 20*usdcPlain))
	if len(p.SourceAssetBalances) != 1 {
		t.Errorf("%+v", p.SourceAssetBalances)
	}
	_, err := w.Prepare(pay(w, Polygon, 20*usdcPlain))
	if e := Refused(t, err, api.ErrValidation); !strings.Contains(e.Message, "exit") {
		t.Error(e.Message)
	}
}

func TestRoleBasedCallNeedsTheSessionKeysSignature(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased, 6, map[uint64]int64{Base: 100})
	_, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	honest := *w.User
	for name, key := range map[string]uint64{"admin": 1_000_006, "a stranger": 50} {
		w.User = new(User)
		*w.User = honest
		w.User.Key = Key(key)
		_, err := callQuoteAs(w, doc)
		if e := asError(err); e == nil || e.Name != api.ErrInvalidSignature {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.User = &honest
	_, err := callQuoteAs(w, doc)
	Must(t, err)
}
