package operator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/networks"
	"coffer/api/service/signers"
)

// operated is a world with an operator whose contracts are there and whose owner is the payer.
func operated(t *testing.T) *world {
	t.Helper()
	w := embedded(t)
	w.only(2)
	w.file.Operator = &networks.Operator{Owner: payer(t).Address(), Attesters: []common.Address{{1}}, Threshold: 1,
		SponsorPerDay: big.NewInt(5e6), ExposureCap: big.NewInt(1e9), Anyone: true}
	w.write()
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	w.sent = 0
	return w
}

// orders runs Own with the key of somebody.
func (w *world) orders(key signers.EVM, o Order, with func(*OwnerOptions)) (string, error) {
	w.Helper()
	options := OwnerOptions{Options: w.options(), Order: o,
		Signer:  func(context.Context) (signers.EVM, error) { return counting{key, w}, nil },
		Confirm: func(context.Context, string) error { return nil }}
	if with != nil {
		with(&options)
	}
	err := Own(w.Context(), options)
	return w.out.String(), err
}

// TestAnOwnersOrderIsCarriedOutOnce: what differs is sent, on every chain, and a second run sends nothing.
func TestAnOwnersOrderIsCarriedOutOnce(t *testing.T) {
	w := operated(t)
	hot, to := common.Address{0x40, 19: 1}, common.Address{0x70, 19: 2}
	usdc := w.file.Chains[0].Tokens[0].Symbol
	here := 0 // chains that have the token
	for _, c := range w.file.Chains {
		for _, token := range c.Tokens {
			if token.Symbol == usdc {
				here++
			}
		}
	}
	for _, step := range []struct {
		order Order
		sends int
		says  string // of the second run
	}{
		{Order{Kind: OrderAllow, Key: hot}, 2, "already so: the filler knows " + hot.Hex()},
		{Order{Kind: OrderCap, Asset: usdc, Amount: "10000", Refill: "1.5"}, here,
			"10,000 " + usdc + " may leave at once, and 1.5 more each second"},
		{Order{Kind: OrderCap, Asset: w.file.Chains[0].Coin.Symbol, Amount: "2", Refill: "0"}, -1, "2 "},
		{Order{Kind: OrderPause}, 2, "already so: paused: nothing is paid"},
		{Order{Kind: OrderGo}, 2, "already so: not paused"},
		{Order{Kind: OrderFund, Asset: usdc, Amount: "50"}, here, "has 50 " + usdc},
		{Order{Kind: OrderFund, Asset: usdc, Amount: "40"}, 0, "has 50 " + usdc}, // it has enough
		{Order{Kind: OrderGas, Key: hot, Amount: "0.25"}, 2, hot.Hex() + " has 0.25 "},
		{Order{Kind: OrderWithdraw, Asset: usdc, Amount: "20", To: to}, here, "has 20 " + usdc},
		{Order{Kind: OrderRemove, Key: hot}, 2, "the filler does not know " + hot.Hex()},
	} {
		w.sent = 0
		dry, err := w.orders(payer(t), step.order, func(o *OwnerOptions) { o.DryRun = true })
		if err != nil || w.sent != 0 || step.sends > 0 && !strings.Contains(dry,
			"this was a dry run: nothing was sent") {
			t.Fatalf("%+v: %d sent, %v\n%s", step.order, w.sent, err, dry)
		}
		out, err := w.orders(payer(t), step.order, nil)
		if err != nil || step.sends >= 0 && w.sent != step.sends || step.sends < 0 && w.sent == 0 {
			t.Fatalf("%+v: %d sent, %v\n%s", step.order, w.sent, err, out)
		}
		w.sent = 0
		again, err := w.orders(payer(t), step.order, nil)
		if err != nil || w.sent != 0 || !strings.Contains(again, step.says) || !strings.Contains(again,
			"nothing is to do") {
			t.Errorf("%+v, again: %d sent, %v\n%s", step.order, w.sent, err, again)
		}
	}
	token := w.file.Chains[0].Tokens[0].Address
	got := w.rpc(w.file.Chains[0].ID, "eth_call", map[string]any{"to": token,
		"data": "0x" + common.Bytes2Hex(callData("balanceOf(address)", to[:]))}, "latest")
	if want := fmt.Sprintf("%x", 30_000_000); !strings.Contains(got, "0"+want+`"`) {
		t.Errorf("%s arrived, 0x%s expected", got, want)
	}
}

// TestAnOwnersOrderGoesOutOnlyFromTheOwner, and nothing is sent where one chain would refuse.
func TestAnOwnersOrderGoesOutOnlyFromTheOwner(t *testing.T) {
	w := operated(t)
	other, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	key := common.Address{1, 19: 9}
	if _, err := w.orders(signers.Local(other), Order{Kind: OrderAllow, Key: key}, nil); err == nil ||
		!strings.Contains(err.Error(), "from its owner "+payer(t).Address().Hex()+" alone; nothing was sent") {
		t.Error(err)
	}
	if _, err := w.orders(signers.Local(other), Order{Kind: OrderGas, Key: key, Amount: "1"}, nil); err == nil ||
		!strings.Contains(err.Error(), "nothing was sent") {
		t.Error("a key without coins:", err)
	}
	no := errors.New("no")
	if _, err := w.orders(payer(t), Order{Kind: OrderPause}, func(o *OwnerOptions) {
		o.Confirm = func(context.Context, string) error { return no }
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	for words, o := range map[string]Order{
		"no chain has \"XYZ\"": {Kind: OrderFund, Asset: "XYZ", Amount: "1"},
		"is no amount of":      {Kind: OrderCap, Asset: w.file.Chains[0].Tokens[0].Symbol, Amount: "-1", Refill: "0"},
		"below 2^128":          {Kind: OrderCap, Asset: "ETH", Amount: "1" + strings.Repeat("0", 30), Refill: "0"},
	} {
		var wrong *InputError
		if _, err := w.orders(payer(t), o, nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := w.orders(payer(t), Order{Kind: OrderPause},
		func(o *OwnerOptions) { o.Chains = []string{"atlantis"} }); err == nil {
		t.Error("a chain that is not there")
	}
	if w.sent != 0 {
		t.Errorf("%d transactions were signed", w.sent)
	}
	w.file.Operator.Owner = common.Address{3}
	w.write()
	if _, err := w.orders(payer(t), Order{Kind: OrderPause}, nil); err == nil ||
		!strings.Contains(err.Error(), "another filler") {
		t.Errorf("a file of another owner: %v", err)
	}
}

// TestAnOwnersOrderForAColdWallet: call data is printed, or goes into a file for each chain, and nothing is sent.
func TestAnOwnersOrderForAColdWallet(t *testing.T) {
	w := operated(t)
	key, first := common.Address{1, 19: 9}, w.file.Chains[0]
	order := Order{Kind: OrderAllow, Key: key}
	data := "0x" + common.Bytes2Hex(callData("setHot(address,bool)", key[:], []byte{1}))
	out, err := w.orders(payer(t), order, func(o *OwnerOptions) { o.Print = true })
	if err != nil {
		t.Fatal(err)
	}
	says(t, out, fmt.Sprintf("chain %d\n", first.ID), "value 0\n", "data "+data)
	var files []uint64
	w.json = true
	out, err = w.orders(payer(t), order, func(o *OwnerOptions) {
		o.Safe = func(several bool, chain uint64, calls []OwnerCall) (string, error) {
			if files = append(files, chain); !several || len(calls) != 1 || calls[0].Data != data ||
				calls[0].Function != "setHot(address key, bool hot)" {
				t.Errorf("%v %+v", several, calls)
			}
			return fmt.Sprint("batch-", chain), nil
		}
	})
	var r Owned
	if err := errors.Join(err, json.Unmarshal([]byte(out), &r)); err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || len(r.Chains) != 2 || !r.DryRun || r.Owner != payer(t).Address().Hex() ||
		r.Chains[0].File != fmt.Sprint("batch-", first.ID) || r.Chains[0].Calls[0].To != r.Filler || w.sent != 0 {
		t.Errorf("%v %+v, %d sent", files, r, w.sent)
	}
	if _, err := w.orders(payer(t), order,
		func(o *OwnerOptions) { o.Chains = []string{fmt.Sprint(first.ID)} }); err != nil ||
		w.sent != 1 {
		t.Errorf("one chain: %d sent, %v", w.sent, err)
	}
}
