package service_test

import (
	"context"
	"errors"
	"math/big"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/secret"
	"coffer/api/service/attest"
	"coffer/api/service/attest/attesthttp"
	"coffer/api/service/signers"
)

// promised is a payment into an escrow on anvil, for a delivery on another chain of anvil, in a network of 2 of 3: one
// key is the operator's, one an attester elsewhere, one a stranger's.
type promised struct {
	*operated
	own      *signers.Key
	good     *attester
	hot      common.Address
	from, to uint64 // chains
	payee    common.Address
}

// newPromised deploys the contracts, allows a hot key, and gives the filler an inventory of which 100 USDC may leave.
func newPromised(t *testing.T) *promised {
	t.Helper()
	p := &promised{operated: &operated{lab: newAnvilLab(t)}, own: keyOf(t, "operator's attester"),
		from: 42161, to: 8453, hot: common.HexToAddress("0x4074"), payee: common.HexToAddress("0xbeef07")}
	p.net.Operator = &networks.Operator{Owner: p.payer.Address(), Threshold: 1, SponsorPerDay: big.NewInt(5e6),
		ExposureCap: big.NewInt(1_000e6), Anyone: true}
	p.save()
	p.good = newAttester(p.operated)
	p.net.Operator.Threshold = 2
	p.net.Operator.Attesters = []common.Address{p.own.Address(), p.good.address, common.HexToAddress("0x57a7")}
	slices.SortFunc(p.net.Operator.Attesters, common.Address.Cmp)
	p.save()
	p.deploy()
	raw, err := os.ReadFile(p.descriptor())
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	p.filler, p.escrow, p.id = d.Deployments[0].Filler, d.Deployments[0].Escrow, d.ID
	p.good.copies(p.operated)
	p.good.starts()
	usdc := p.usdc[p.to]
	p.owner(p.to, "setHot(address,bool)", p.hot[:], []byte{1})
	p.owner(p.to, "setCap(address,uint256,uint256)", usdc[:], big.NewInt(100e6).Bytes(), nil)
	p.sent(p.to, usdc, nil, erc20.Transfer(p.filler, big.NewInt(500e6)))
	for _, id := range []uint64{p.from, p.to} {
		for _, who := range []common.Address{p.hot, stranger()} {
			p.ask(id, nil, "anvil_setBalance", who, (*hexutil.Big)(big.NewInt(1e18)))
			p.ask(id, nil, "anvil_impersonateAccount", who)
		}
	}
	p.sent(p.from, p.usdc[p.from], nil, approve(p.escrow))
	return p
}

func stranger() common.Address { return common.HexToAddress("0x5742") }

func keyOf(t *testing.T, label string) *signers.Key {
	t.Helper()
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(label)))
	if err != nil {
		t.Fatal(err)
	}
	return signers.Local(k)
}

// approve lets an address take any amount of a token.
func approve(to common.Address) []byte {
	data := append(crypto.Keccak256([]byte("approve(address,uint256)"))[:4], common.LeftPadBytes(to[:], 32)...)
	return append(data, slices.Repeat([]byte{0xff}, 32)...)
}

// now is the time of a chain.
func (p *promised) now(id uint64) uint64 {
	p.t.Helper()
	var b struct {
		Timestamp hexutil.Uint64
	}
	p.ask(id, &b, "eth_getBlockByNumber", "latest", false)
	return uint64(b.Timestamp)
}

// pays deposits 30 USDC for a delivery of 29 within some seconds, and returns the claim of it.
func (p *promised) pays(quote byte, within uint64) attest.Claim {
	p.t.Helper()
	c := attest.Claim{QuoteID: common.Hash{0x90, 31: quote}, Depositor: anvilRich()}
	c.Escrow = escrow.Place{ChainID: p.from, Escrow: p.escrow, Salt: common.HexToHash(p.id)}
	c.Terms = escrow.Terms{TargetChain: p.to, FillDeadline: max(p.now(p.to), p.now(p.from)) + within,
		Minimums: []escrow.Minimum{{Token: escrow.Padded(p.usdc[p.to]), To: escrow.Padded(p.payee),
			Amount: big.NewInt(29e6)}}}
	p.sent(p.from, p.escrow, nil, escrow.DepositCalldata(escrow.Deposit{QuoteID: c.QuoteID, Token: p.usdc[p.from],
		Amount: big.NewInt(30e6), RefundDeadline: c.Terms.FillDeadline + 7200}, c.Terms))
	return c
}

// fill is call data that delivers an amount for a claim.
func (p *promised) fill(c attest.Claim, amount int64) []byte {
	p.t.Helper()
	data, err := filler.FillCalldata(c.QuoteID, c.Depositor, c.Terms, []filler.Pay{{Token: p.usdc[p.to], To: p.payee,
		Amount: big.NewInt(amount)}})
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

// as sends a transaction of an account, and says whether it succeeded.
func (p *promised) as(from common.Address, id uint64, to common.Address, data []byte) (hash common.Hash, done bool) {
	p.t.Helper()
	p.ask(id, &hash, "eth_sendTransaction", map[string]any{"from": from, "to": to, "data": hexutil.Bytes(data),
		"gas": hexutil.Uint64(2_000_000)})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var r *struct{ Status hexutil.Uint64 }
		if p.ask(id, &r, "eth_getTransactionReceipt", hash); r != nil {
			return hash, r.Status == 1
		}
		if time.Now().After(end) {
			p.t.Fatalf("transaction %s is in no block", hash)
		}
	}
}

// TestOnlyKAttestersMoveADepositOnAnvil: of 2 of 3, on an EVM that is not ours, with the program's attester elsewhere
// over HTTPS. Copies, doubles, late deliveries and those over the cap revert; one signature, the operator's twice, a
// stranger's and a stranger before the deadline move nothing. Two that judged the delivery release it, once.
func TestOnlyKAttestersMoveADepositOnAnvil(t *testing.T) {
	p := newPromised(t)
	remote := attesthttp.NewRemote(attesthttp.Options{Attester: p.good.address, URL: "https://" + p.good.listen,
		RootCAs: p.good.roots(), Key: secret.New([]byte(p.good.key)), Network: p.id, Filler: p.filler,
		Escrow: p.escrow})
	c := p.pays(1, 600)
	reverts := func(what string, from common.Address, id uint64, to common.Address, data []byte) {
		t.Helper()
		before := [3]int64{p.has(p.from, p.escrow), p.has(p.to, p.filler), p.has(p.to, p.payee)}
		if _, done := p.as(from, id, to, data); done {
			t.Errorf("%s succeeded", what)
		}
		after := [3]int64{p.has(p.from, p.escrow), p.has(p.to, p.filler), p.has(p.to, p.payee)}
		if after != before {
			t.Errorf("%s moved %v to %v", what, before, after)
		}
	}
	reverts("a copycat's delivery", stranger(), p.to, p.filler, p.fill(c, 29e6))
	reverts("a delivery over the cap", p.hot, p.to, p.filler, p.fill(c, 101e6))
	reverts("a delivery of too little", p.hot, p.to, p.filler, p.fill(c, 28e6))
	early := c
	early.Terms.FillDeadline = p.now(p.to) - 1
	reverts("a late delivery", p.hot, p.to, p.filler, p.fill(early, 29e6))

	c.Fill = common.Hash{1}.Hex()
	if _, err := remote.Attest(t.Context(), c); !errors.Is(err, attest.ErrNotYet) {
		t.Errorf("before the delivery: %v", err)
	}
	filled, done := p.as(p.hot, p.to, p.filler, p.fill(c, 29e6))
	if !done || p.has(p.to, p.payee) != 29e6 {
		t.Fatal("it is not delivered")
	}
	c.Fill = filled.Hex()
	reverts("a second delivery", p.hot, p.to, p.filler, p.fill(c, 29e6))

	alone, err := p.own.SignAttestation(t.Context(), c.Attestation(p.filler))
	if err != nil {
		t.Fatal(err)
	}
	other, err := keyOf(t, "a stranger").SignAttestation(t.Context(), c.Attestation(p.filler))
	if err != nil {
		t.Fatal(err)
	}
	release := func(signatures ...[]byte) []byte {
		return escrow.ReleaseCalldata(c.QuoteID, c.Depositor, signatures)
	}
	for what, data := range map[string][]byte{
		"k-1 signatures": release(alone), "the operator's twice": release(alone, alone),
		"the operator's and a stranger's": release(alone, other),
		"a stranger's and the operator's": release(other, alone),
		"no signature":                    release(),
		"nonsense":                        release(alone, slices.Repeat([]byte{0x11}, 65)),
		"a stranger before the deadline":  escrow.RefundCalldata(c.QuoteID, c.Depositor),
	} {
		reverts(what, stranger(), p.from, p.escrow, data)
		reverts(what+", sent by the hot key", p.hot, p.from, p.escrow, data)
	}

	// One that judges it adds its own, and signs no other deposit for it.
	lie := p.pays(2, 600)
	lie.Fill = c.Fill
	if _, err := remote.Attest(t.Context(), lie); !errors.Is(err, attest.ErrNotFilled) {
		t.Errorf("for another deposit: %v", err)
	}
	own := &attest.Attester{Key: p.own, Filler: p.filler, Escrow: p.escrow, Salt: c.Escrow.Salt}
	both, err := attest.Collect(t.Context(), p.filler, []attest.Port{remote, gullible{own}}, 2, c)
	if err != nil {
		t.Fatal(err)
	}
	before := p.has(p.from, p.filler)
	if _, done := p.as(stranger(), p.from, p.escrow, release(both...)); !done {
		t.Fatal("two signatures do not release it")
	}
	if got := p.has(p.from, p.filler) - before; got != 30e6 {
		t.Errorf("%d went to the filler", got)
	}
	reverts("a second release", stranger(), p.from, p.escrow, release(both...))
}

// gullible is the operator's attester, which signs whatever it is asked to.
type gullible struct{ *attest.Attester }

// Attest implements attest.Port.
func (a gullible) Attest(ctx context.Context, c attest.Claim) ([]byte, error) {
	return a.Key.SignAttestation(ctx, c.Attestation(a.Filler))
}
