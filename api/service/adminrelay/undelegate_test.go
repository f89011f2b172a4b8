package adminrelay_test

import (
	"context"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/adminrelay"
	"coffer/api/service/chain"
)

// delegate seals a transaction in which an EOA changes what it is delegated to.
func (w *world) delegate(to common.Address, nonce uint64) {
	w.Helper()
	k := key("EOA")
	a := op.Authorization{ChainID: big.NewInt(base), Address: to, Nonce: nonce}
	_, err := w.in.Chains[base].Seal(context.Background(), chain.SealRequest{Time: start, Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: w.in.Operator, To: crypto.PubkeyToAddress(k.PublicKey), Gas: 150_000,
			Authorizations: []op.SignedAuthorization{a.With(sign(a.Hash(), k))}}}})
	w.must(err)
}

// undelegation is the request with which the EOA ends its delegation.
func (w *world) undelegation(nonce uint64) *api.Document {
	w.Helper()
	k := key("EOA")
	a := op.Authorization{ChainID: big.NewInt(base), Nonce: nonce}
	doc, err := api.Encode(api.UndelegateRequest{Account: crypto.PubkeyToAddress(k.PublicKey).Hex(),
		Authorization: a.With(sign(a.Hash(), k)).Wire()})
	w.must(err)
	return doc
}

// Asked several times at once, one transaction is sent, and each answer is right.
func TestAnUndelegationIsSentOnceHoweverOftenItIsAskedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.delegate(w.in.Pins.KernelV33, 0)
	before, sent := w.heads()[base], 0
	doc := w.undelegation(1)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			answer, err := w.relay.Undelegate(t.Context(), doc)
			var out api.UndelegateResponse
			if err == nil {
				err = answer.Decode(&out)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if out.Transaction != nil {
				sent++
			}
		})
	}
	all.Wait()
	if made := w.heads()[base] - before; made != 1 || sent != 1 {
		t.Errorf("%d blocks, %d answers with a transaction", made, sent)
	}
}

// Another transaction that takes the EOA's nonce first makes the authorization void: the answer names the next one.
func TestAnUndelegationThatIsOvertakenIsToldTheNonce(t *testing.T) {
	w := newWorld(t)
	w.delegate(w.in.Pins.KernelV33, 0)
	c := &racing{Chain: w.in.Chains[base]}
	w.in.Chains[base] = c
	c.first = func() { w.delegate(w.in.Pins.KernelV33, 1) }
	other := adminrelay.New(w.relay.Deps)
	if _, err := other.Undelegate(t.Context(), w.undelegation(1)); err == nil ||
		!strings.Contains(err.Error(), "the account's nonce on eip155:8453, 2") {
		t.Errorf("%v", err)
	}
	if _, err := other.Undelegate(t.Context(), w.undelegation(2)); err != nil {
		t.Error(err)
	}
}
