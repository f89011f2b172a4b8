package compose

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/wallet/intent"
)

// onSolana is what a list for Solana is told, with what works there.
const onSolana = "on Solana a payment has one recipient, so a list cannot be paid together there, and half a list " +
	"could be paid twice. Send to each alone, such as coffer transfer --asset usdc --amount 25 " +
	"--to ADDRESS --chain solana"

const shop = "0x1111111111111111111111111111111111111111"

// payouts reads a list and freezes it, as every front end does.
func payouts(t *testing.T, w *World, list string, chain caip.Chain, asset string) (*Calls, intent.Draft) {
	t.Helper()
	form, err := w.ReadPayouts([]byte(list), chain, asset)
	if err != nil {
		t.Fatalf("%q: %v", list, err)
	}
	if wrong := w.Mistakes(form, true); len(wrong) > 0 {
		t.Fatalf("%q: %v", list, wrong)
	}
	in, err := w.Freeze(form.Draft(w))
	if err != nil {
		t.Fatalf("%q: %v", list, err)
	}
	return form, in.Draft()
}

func TestPayoutsBecomeTheCallsThatPayThem(t *testing.T) {
	w, base := world(t), caip.EVM(8453)
	const line = "250.5"
	want := func(to string, v int64) string {
		return "0xa9059cbb" + strings.Repeat("0", 24) + strings.ToLower(to[2:]) + hexWord(big.NewInt(v))
	}
	for name, c := range map[string]struct {
		list, asset string
		chain       caip.Chain
	}{
		"bare":        {payee + "," + line + "\n" + shop + ",1\n", "usdc", base},
		"asset@chain": {payee + "," + line + "\n" + shop + ",1\n", "usdc@base", caip.Chain{}},
		"symbols":     {payee + "," + line + ",usdc\n" + shop + ",1\n", "usdc@base", caip.Chain{}},
		"in the rows": {payee + "," + line + ",usdc@base\n" + shop + ",1,usdc\n", "", caip.Chain{}},
		"id": {payee + "," + line + ",eip155:8453/erc20:" + strings.ToLower(usdc) + "\n" + shop + ",1,usdc", "",
			base},
		"header":         {"Recipient,Amount\n" + payee + "," + line + "\n" + shop + ",1\n", "usdc", base},
		"other order":    {"note,amount,recipient\n," + line + "," + payee + "\n,1," + shop, "usdc", base},
		"BOM and CRLF":   {"\ufeffrecipient,amount\r\n" + payee + "," + line + "\r\n" + shop + ",1\r\n", "usdc", base},
		"CR, as pasted":  {payee + "," + line + "\r" + shop + ",1\r", "usdc", base},
		"quoted":         {"\"" + payee + "\",\"" + line + "\"\n" + shop + ",1", "usdc", base},
		"a contact":      {"demo PAYEE," + line + "\n" + shop + ",1", "usdc", base},
		"lower case":     {strings.ToLower(payee) + "," + line + "\n" + shop + ",1", "usdc", base},
		"its symbol":     {payee + "," + line + " USDC\n" + shop + ",1 usdc", "usdc", base},
		"blanks, blanks": {"\n " + payee + " , " + line + " \n,,,\n\n" + shop + ",1\n", "usdc", base},
	} {
		t.Run(name, func(t *testing.T) {
			_, d := payouts(t, w, c.list, c.chain, c.asset)
			if d.TargetChain != "eip155:8453" || len(d.Calls) != 2 || d.Calls[0].To != usdc ||
				d.Calls[0].Data != want(payee, 250_500_000) || d.Calls[1].Data != want(shop, 1_000_000) {
				t.Errorf("%+v", d.Calls)
			}
			if len(d.TokensRequired) != 1 || d.TokensRequired[0].Amount != "251500000" {
				t.Errorf("%+v", d.TokensRequired)
			}
		})
	}
}

func hexWord(v *big.Int) string { return Hex(v.FillBytes(make([]byte, 32)))[2:] }

// TestPayoutsOfCoinsAndOfSeveralTokens: a coin is a plain payment, and each asset is required once. Notes stay beside
// their calls and are not sent.
func TestPayoutsOfCoinsAndOfSeveralTokens(t *testing.T) {
	w := world(t)
	list := payee + ",0.000000000000000001,eth,\"rent, March\"\n" + shop + ",2,usdc\n" + payee + ",0.5,eth,\n"
	form, d := payouts(t, w, list, caip.EVM(8453), "")
	if d.Calls[0].To != payee || d.Calls[0].Value != "1" || d.Calls[0].Data != "" || d.Calls[0].Note != "rent, March" ||
		d.Calls[2].Value != "500000000000000000" || len(d.TokensRequired) != 2 ||
		d.TokensRequired[0].Amount != "500000000000000001" || d.TokensRequired[1].Amount != "2000000" {
		t.Errorf("%+v %+v", d.Calls, d.TokensRequired)
	}
	again, err := w.Freeze(w.CallsOf(d).Draft(w))
	if err != nil || again.Draft().Calls[0].Note != "rent, March" {
		t.Errorf("%v: %+v", err, again.Draft().Calls)
	}
	if strings.Contains(string(again.PrepareBody()), "March") {
		t.Error("a note is sent to the service")
	}
	if c := w.Cautions(form)[IDTo(2)]; c.Level != Warn || !strings.Contains(c.Text, "call 1 pays the same address") {
		t.Errorf("the second payment to an address: %+v", c)
	}
	w.PaidKnown, w.Book = true, nil
	if c := w.Cautions(form)[IDTo(2)]; !strings.Contains(c.Text, "call 1 pays the same address") {
		t.Errorf("the second payment to a new address: %+v", c)
	}
	if c := w.Cautions(form)[IDTo(0)]; c.Level != Warn || !strings.Contains(c.Text, "never sent there before") {
		t.Errorf("the first payment to an address: %+v", c)
	}
}

// TestEveryFaultOfAListIsToldWithItsLine: all of them at once, and nothing is read from a list with a fault.
func TestEveryFaultOfAListIsToldWithItsLine(t *testing.T) {
	w, base := world(t), caip.EVM(8453)
	list := "recipient,amount,asset,note\n" + // 1
		"0x00c071dB63c5c4bD094C6cc715fd1D622D6Fd5a6,1,,\n" + // 2: checksum
		payee + ",0.1234567,,\n" + // 3: decimals
		"nobody,,,\n" + // 4: recipient and amount
		payee + ",1,doge,\n" + // 5
		payee + ",1,usdc@op,\n" + // 6
		"0x0000000000000000000000000000000000000000,0,,\n" + // 7: recipient and amount
		usdc + ",1,,\n" + // 8
		account + ",1,,\n" + // 9
		payee + "\n" + // 10
		payee + ",1,,a,b\n" + // 11
		payee + ",\"1,5\",,\"two\nlines\"\n" + // 12 and 13
		payee + ",1\"5,,\n" + // 14
		payee + ",5 gwei,eth,\n" + // 15
		payee + ",1,," + strings.Repeat("n", intent.MaxNote+1) + "\n" // 16
	form, err := w.ReadPayouts([]byte(list), base, "usdc")
	var faults PayoutFaults
	if !errors.As(err, &faults) || form != nil {
		t.Fatal(err)
	}
	want := []string{
		"line 2, recipient: the checksum is wrong", "line 3, amount: \"0.1234567\" is not an amount with at most 6",
		"line 4, amount: an amount is needed", "line 4, recipient: \"nobody\" is neither an address nor",
		"line 5, asset: there is no asset \"doge\"", "line 6, asset: all payouts of a list are on one chain, here Base",
		"line 7, amount: more than 0", "line 7, recipient: this is the zero address",
		"line 8, recipient: this is the contract of USDC", "line 9, recipient: this is your own account",
		"line 10: 1 field instead of 2 to 4", "line 11: 5 fields instead of 2 to 4",
		"line 12, amount: an amount in USDC", "line 12, note: one line", "line 14: a quotation mark is out of place",
		"line 15, amount: an amount in ETH", "line 16, note: one line",
	}
	for i, f := range faults {
		if i >= len(want) || !strings.HasPrefix(f.String(), want[i]) {
			t.Errorf("fault %d is %q", i, f)
		}
	}
	if len(faults) != len(want) || err.Error() != faults[0].String()+" (and 16 more)" {
		t.Errorf("%d faults instead of %d: %v", len(faults), len(want), err)
	}
}

func TestListsThatCannotBeReadSayWhy(t *testing.T) {
	w, base := world(t), caip.EVM(8453)
	for name, c := range map[string]struct {
		list, asset string
		chain       caip.Chain
		want        string
	}{
		"empty":        {"", "usdc", base, "no payouts"},
		"header alone": {"recipient,amount\n", "usdc", base, "no payouts"},
		"UTF-16":       {"\xff\xfea\x00,\x00", "usdc", base, "UTF-8"},
		"semicolons":   {payee + ";1\n", "usdc", base, "line 1: 1 field instead of 2 to 4: separate them with commas"},
		"other column": {"recipient,amount,memo\n" + payee + ",1,x", "usdc", base,
			"line 1: there is no column \"memo\""},
		"column twice": {"recipient,amount,amount\n" + payee + ",1,1", "usdc", base,
			"the column amount is there twice"},
		"no chain":      {payee + ",1\n" + payee + ",2\n", "usdc", caip.Chain{}, "line 1, asset: on which chain?"},
		"no asset":      {payee + ",1\n", "", base, "line 1, asset: an asset is needed"},
		"Solana":        {payee + ",1\n", "usdc@solana", caip.Chain{}, onSolana},
		"its chain":     {payee + ",1\n", "usdc", caip.SolanaMainnet(), onSolana},
		"in one row":    {payee + ",1\n" + payee + ",1,sol@solana\n", "usdc@base", caip.Chain{}, onSolana},
		"its id":        {payee + ",1\n", caip.SOL().String(), caip.Chain{}, onSolana},
		"larger":        {strings.Repeat("\n", 1<<20+1), "usdc", base, "larger than 1 MiB"},
		"an open quote": {payee + ",\"1\n", "usdc", base, "line 1: a quotation mark"},
	} {
		if _, err := w.ReadPayouts([]byte(c.list), c.chain, c.asset); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := w.ReadPayouts([]byte(payee+",1\n"+payee+",2\n"), caip.Chain{}, "usdc")
	faults := PayoutFaults(nil)
	if !errors.As(err, &faults) || len(faults) != 1 || !faults.LackAsset() {
		t.Errorf("the chain that all rows lack is asked for %d times", len(faults))
	}
	_, err = w.ReadPayouts([]byte(payee+",1\n"+payee+",x,usdc@base\n"), caip.Chain{}, "usdc")
	if !errors.As(err, &faults) || faults.LackAsset() {
		t.Error("an asset alone would not help", err)
	}
}

func TestABatchHasItsLargestNumberOfPayouts(t *testing.T) {
	w := world(t)
	var list strings.Builder
	for i := range MaxPayouts + 5 {
		if i == MaxPayouts {
			if form, _ := payouts(t, w, list.String(), caip.EVM(8453), "usdc"); len(form.Calls) != MaxPayouts {
				t.Fatalf("%d calls", len(form.Calls))
			}
		}
		list.WriteString(payee + "," + strconv.Itoa(i+1) + "\n")
	}
	_, err := w.ReadPayouts([]byte(list.String()), caip.EVM(8453), "usdc")
	if err == nil || err.Error() != "line 101: a batch pays at most 100 times: split the list before this line" {
		t.Error(err)
	}
}

// FuzzPayouts: a list is read into calls that can be drafted, or refused in clean words.
func FuzzPayouts(f *testing.F) {
	for _, s := range []string{payee + ",1\n" + shop + ",2",
		"recipient,amount,asset,note\nDemo payee,0.1 ETH,eth@base,x\n",
		"\ufeff" + payee + ",\"1\"\r\n", "\"", payee + ",1,usdc@op", "a;b\n\x1b[2J,1", payee + ",1,\"ob:usdc\""} {
		f.Add([]byte(s), "usdc")
	}
	w := world(f)
	f.Fuzz(func(t *testing.T, list []byte, asset string) {
		for _, chain := range []caip.Chain{{}, caip.EVM(8453)} {
			form, err := w.ReadPayouts(list, chain, asset)
			if err != nil {
				if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
					t.Fatalf("%q", err)
				}
				continue
			}
			if n := len(form.Calls); n == 0 || n > MaxPayouts {
				t.Fatalf("%d calls", n)
			}
			w.Cautions(form)
			if wrong := w.Mistakes(form, true); len(wrong) > 0 {
				t.Fatalf("%q: %v", list, wrong)
			}
			if _, err := w.Freeze(form.Draft(w)); err != nil {
				t.Fatalf("%q: %v", list, err)
			}
		}
	})
}
