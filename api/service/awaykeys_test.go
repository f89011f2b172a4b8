package service_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service"
	"coffer/api/service/outsign/outsigntest"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// TestAnOperatorWorksWithoutAKeyOfItsOwn: its hot key is at web3signer and its attester's key at clef, and the seed of
// its other keys is kept elsewhere. Accounts of every kind pay, and no file of its data has a key or the seed.
func TestAnOperatorWorksWithoutAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	db, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seed := crypto.Keccak256([]byte("a seed that is kept elsewhere"))
	hot := hex.EncodeToString(crypto.Keccak256([]byte("hot")))
	attests := hex.EncodeToString(crypto.Keccak256([]byte("attests")))
	var signed [2]atomic.Int64
	at := func(i int, h http.Handler) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			signed[i].Add(1)
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	same := func(b []byte) []byte { return b }
	address := func(keyHex string) common.Address {
		key, err := crypto.HexToECDSA(keyHex)
		if err != nil {
			t.Fatal(err)
		}
		return crypto.PubkeyToAddress(key.PublicKey)
	}
	o := &operated{lab: newChains(t, network.Lab, nil, 10, 8453, 42161), db: db}
	o.signers = func(op *networks.Operator) {
		op.HotKey = &networks.Signer{Kind: networks.Web3Signer, Address: address(hot),
			URL: at(0, outsigntest.Web3Signer(hot, same))}
		op.AttesterKey = &networks.Signer{Kind: networks.Clef, Address: address(attests),
			URL: at(1, outsigntest.Clef(attests, 10, same))}
	}
	o.begins(func(own common.Address) []common.Address {
		if own != address(attests) {
			t.Errorf("it attests as %s", own)
		}
		return []common.Address{own}
	}, func() {}, func(from *service.Options) { from.Seed, from.SeedKept = bytes.Clone(seed), true })
	s := o.open(nil)
	if got := s.Network().Pins.Operator; got != address(hot) {
		t.Errorf("it sends as %s", got)
	}
	for i, kind := range []string{api.AccountKernelV33, api.AccountRoleBased} {
		c := o.member(s, kind, uint64(260+i))
		to := common.Address{0xbe, 0xef, 18: byte(i), 19: 70}
		doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
		c.done(c.waited(doc, id), api.RecordCall)
		o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
	}
	if signed[0].Load() == 0 || signed[1].Load() == 0 {
		t.Error("a signer was never asked")
	}
	derived, err := signers.Secret(seed, "coffer/key/operator/1", 48)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range [][]byte{seed, derived, []byte(hot), common.FromHex(hot), common.FromHex(attests),
		[]byte(hex.EncodeToString(seed))} {
		if bytes.Contains(raw, secret) {
			t.Errorf("the database has %x…", secret[:4])
		}
	}
}
