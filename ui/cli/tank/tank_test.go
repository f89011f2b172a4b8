package tank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/gastank"
	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/wallet/verify"
)

// TestJSONOfATank: what --json prints of a tank, and of a withdrawal.
func TestJSONOfATank(t *testing.T) {
	has, good := "1500000000000000000", uint64(160)
	w := gastank.Withdrawal{ChainID: 8453, Symbol: "ETH", From: common.Address{1}, To: common.Address{2},
		Amount: big.NewInt(7), Fee: big.NewInt(3), Most: big.NewInt(9)}
	sent := w
	sent.State, sent.Tx, sent.Block, sent.Fee = gastank.Done, common.Hash{3}, 12, nil
	report := gastank.Report{Address: "0xTank", Most: 100, Paid: []gastank.Paid{{Account: "0xA", Operations: 3}},
		Chains: []gastank.Chain{{ID: 8453, Name: "Base", Symbol: "ETH", Has: &has, Operations: &good},
			{ID: 10, Name: "Optimism", Symbol: "ETH", Problem: "no endpoint answers"}}}
	for want, v := range map[string]any{
		`{"address":"0xTank","chains":[{"id":8453,"name":"Base","symbol":"ETH","has":"1500000000000000000",` +
			`"operations":160,"underWay":[]},{"id":10,"name":"Optimism","symbol":"ETH","has":null,"operations":null,` +
			`"problem":"no endpoint answers","underWay":[]}],"paid":[{"account":"0xA","operations":3}],` +
			`"most":100}`: report,
		`{"state":"planned","chain":"eip155:8453","from":"0x0100000000000000000000000000000000000000",` +
			`"to":"0x0200000000000000000000000000000000000000","amount":"7","symbol":"ETH",` +
			`"fee":"3","mostFee":"9"}`: factOf(w, false),
		`{"state":"done","chain":"eip155:8453","from":"0x0100000000000000000000000000000000000000",` +
			`"to":"0x0200000000000000000000000000000000000000","amount":"7","symbol":"ETH","transaction":"0x03` +
			strings.Repeat("0", 62) + `","block":12,"earlier":true}`: factOf(sent, true),
	} {
		var out bytes.Buffer
		if err := cli.PrintJSON(&out, v); err != nil || out.String() != want+"\n" {
			t.Errorf("got\n%s%v, want\n%s", &out, err, want)
		}
	}
}

// fake is a tank whose withdrawals end in a state.
type fake struct {
	gastank.Withdrawals
	last  gastank.Withdrawal
	hangs bool
	err   error
	told  int
}

func (f *fake) Wait(ctx context.Context, p gastank.Withdrawal) (gastank.Withdrawal, error) {
	if f.hangs {
		<-ctx.Done()
		return f.last, ctx.Err()
	}
	return f.last, f.err
}

func (f *fake) Last(uint64) (gastank.Withdrawal, bool, error) { return f.last, f.last.ID != "", nil }
func (f *fake) Told(gastank.Withdrawal) error                 { f.told++; return nil }

func sent(state gastank.State) gastank.Withdrawal {
	return gastank.Withdrawal{ID: "withdrawal 1", ChainID: 8453, Chain: "Base", Symbol: "ETH", To: common.Address{1},
		Amount: big.NewInt(5e17), State: state, Tx: common.Hash{2}, Block: blockOf[state]}
}

// blockOf are blocks by state.
var blockOf = map[gastank.State]uint64{gastank.Mined: 7, gastank.Done: 7, gastank.Refused: 7, gastank.Cancelled: 7}

// TestExitCodesOfAWithdrawal: each end has its own, and only what the person can act on counts as told.
func TestExitCodesOfAWithdrawal(t *testing.T) {
	for _, c := range []struct {
		fake
		code, told int
		words      string
	}{
		{fake{last: sent(gastank.Done)}, cli.ExitDone, 1, ""},
		{fake{last: sent(gastank.Mined)}, cli.ExitDone, 1, ""},
		{fake{last: sent(gastank.Sent), hangs: true}, cli.ExitUnknown, 0, "is in no block yet"},
		{fake{last: sent(gastank.Mined), hangs: true}, cli.ExitUnknown, 0, "is in block 7, and"},
		{fake{last: sent(gastank.Refused)}, cli.ExitFailed, 1, "did not take the coins"},
		{fake{last: sent(gastank.Cancelled)}, cli.ExitExpired, 1, "no coins moved"},
		{fake{last: sent(gastank.Lost)}, cli.ExitUnknown, 1, "is not known here"},
		{fake{last: sent(gastank.Sent), err: errors.New("damaged")}, cli.ExitUnknown, 0, "damaged"},
	} {
		name := fmt.Sprintf("%s, %v", c.last.State, c.hangs)
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			c.fake.told = 0
			err := Commands{Out: &out}.ends(t.Context(), &c.fake, c.last, withdrawFlags{wait: 20 * time.Millisecond,
				asJSON: asJSON}, false)
			if cli.Code(err) != c.code || c.fake.told != c.told || err != nil && !strings.Contains(err.Error(),
				c.words) {
				t.Errorf("%s: %v (%d), told %d times", name, err, cli.Code(err), c.fake.told)
			}
			if asJSON && c.err == nil && !strings.Contains(out.String(), `"state":"`+string(c.last.State)+`"`) {
				t.Errorf("%s: %s", name, &out)
			}
		}
	}
}

// TestAnOutcomeThatWasLostIsToldBeforeAnythingIsSent: to whom asks for the same, it is the answer.
func TestAnOutcomeThatWasLostIsToldBeforeAnythingIsSent(t *testing.T) {
	same := request{chain: 8453, to: common.Address{1}.Hex(), value: big.NewInt(5e17)}
	other := same
	other.value = nil
	for _, c := range []struct {
		last gastank.Withdrawal
		asks request
		told bool
		code int
	}{
		{sent(gastank.Done), same, true, cli.ExitDone},
		{sent(gastank.Done), other, true, cli.ExitRefused},
		{sent(gastank.Cancelled), same, true, cli.ExitExpired},
		{gastank.Withdrawal{}, same, false, cli.ExitDone},
		{func() gastank.Withdrawal { w := sent(gastank.Done); w.Told = true; return w }(), same, false, cli.ExitDone},
	} {
		var out bytes.Buffer
		w := &fake{last: c.last}
		told, err := Commands{Out: &out, Prompt: cli.Prompt{Out: &out}}.earlier(t.Context(), w, c.asks,
			withdrawFlags{wait: time.Second})
		if told != c.told || cli.Code(err) != c.code || (w.told > 0) != c.told {
			t.Errorf("%+v: %v %v, told %d times\n%s", c.last, told, err, w.told, &out)
		}
	}
}

// TestAWithdrawalIsConfirmed by the end of its recipient, or by a flag.
func TestAWithdrawalIsConfirmed(t *testing.T) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c := Commands{Prompt: cli.Prompt{In: in, Out: new(bytes.Buffer)}}
	if err := c.confirm(t.Context(), "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", true); err != nil {
		t.Error(err)
	}
	if err := c.confirm(t.Context(), "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
		false); cli.Code(err) != cli.ExitUsage {
		t.Error(err)
	}
}

// TestTH_Y2_ThePolicyFileHoldsForWithdrawals: a chain, a recipient, a sum and a day that it does not allow are refused
// by name; own accounts may always receive, and the daily cap of the program does not hold.
func TestTH_Y2_ThePolicyFileHoldsForWithdrawals(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	to, own := common.Address{19: 2}, common.Address{19: 3}
	one := gastank.Withdrawal{ChainID: 8453, Symbol: "ETH", To: to, Amount: big.NewInt(1e18)}
	more := []gastank.Withdrawal{one, one}
	cents := func(usd int64) *big.Int { return big.NewInt(usd * 1e6) }
	price := known.Price(caip.Native(8453)).Int64() / 1e6 // dollars of a coin
	if price < 10 {
		t.Fatalf("a coin is worth $%d", price)
	}
	for name, x := range map[string]struct {
		limits verify.Limits
		to     common.Address
		says   string
	}{
		"no policy":                 {verify.Limits{}, to, ""},
		"the program's own cap":     {verify.Limits{MaxSpendPerDay: cents(1), DefaultDayCap: true}, to, ""},
		"another chain":             {verify.Limits{Chains: []caip.Chain{caip.EVM(10)}}, to, "Y1 "},
		"its chain":                 {verify.Limits{Chains: []caip.Chain{caip.EVM(8453)}}, to, ""},
		"another recipient":         {verify.Limits{Recipients: []string{own.Hex()}}, to, "Y2 "},
		"its recipient":             {verify.Limits{Recipients: []string{strings.ToLower(to.Hex())}}, to, ""},
		"an own account":            {verify.Limits{Recipients: []string{to.Hex()}}, own, ""},
		"too much at once":          {verify.Limits{MaxSpend: cents(price / 2)}, to, "Y4 "},
		"not too much at once":      {verify.Limits{MaxSpend: cents(2 * price)}, to, ""},
		"too much within a day":     {verify.Limits{MaxSpendPerDay: cents(2 * price)}, to, "Y5 "},
		"not too much within a day": {verify.Limits{MaxSpendPerDay: cents(4 * price)}, to, ""},
	} {
		rules := verify.DefaultPolicy(network.Descriptor{Kind: network.Lab}, known)
		rules.Limits = x.limits
		w := one
		w.To = x.to
		err := forbidden(rules, verify.NoHistory{}, time.Unix(1, 0), []string{own.Hex()}, w, more)
		var refused *cli.RefusedError
		if (x.says == "") != (err == nil) || err != nil && (!errors.As(err, &refused) ||
			!strings.Contains(err.Error(), "your policy file forbids this: "+x.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
