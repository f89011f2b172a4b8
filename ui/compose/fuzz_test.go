package compose

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

const (
	account = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	payee   = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	usdc    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
)

// world is the shipped catalogue with one account and one contact.
func world(t testing.TB) *World {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return &World{Catalog: c, Network: "0x" + strings.Repeat("ab", 32),
		Clock: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee),
			AccountAddress: account, DeploymentType: api.DeploymentERC4337}},
		Book: []Contact{{Name: "Demo payee", Address: payee}}}
}

// FuzzNames: typed names give something that exists, or a mistake in clean words.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"base", "8453", "eip155:10", "usdc@base", "ob:usdc", "eip155:8453/slip44:60",
		"Demo payee",
		payee, strings.ToLower(payee), "0x00C0", "solana", "\x1b[2J"} {
		f.Add(s)
	}
	w := world(f)
	f.Fuzz(func(t *testing.T, text string) {
		chain, problem := w.Chain(text)
		if _, ok := w.Catalog.Chain(chain); ok != (problem == "") {
			t.Fatalf("%q is %v: %s", text, chain, problem)
		}
		asset, wrong := w.Asset(text)
		if _, err := caip.ParseAsset(asset); wrong == "" && err != nil && !strings.HasPrefix(asset, "ob:") {
			t.Fatalf("%q is %q", text, asset)
		}
		for _, on := range []caip.Chain{caip.EVM(8453), w.Catalog.Solana().Chain} {
			for _, read := range []func(caip.Chain, string) (string, string){w.Address, w.Recipient} {
				found, bad := read(on, text)
				if bad == "" && found != "" && addressMistake(on, found) != "" {
					t.Fatalf("%q is %q on %v", text, found, on)
				}
				problem += bad
			}
		}
		if strings.ContainsRune(problem+wrong, '\x1b') {
			t.Fatalf("%q: %q", text, problem+wrong)
		}
	})
}

// FuzzSlippage: a tolerance is read within its bounds or refused.
func FuzzSlippage(f *testing.F) {
	for _, s := range []string{"50", "0.5 %", "100%", "0", "%", "1e2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, problem := Slippage(text); (problem == "") != (n >= 1 && n <= api.MaxSlippageBps) {
			t.Fatalf("%q is %d: %s", text, n, problem)
		}
	})
}

// FuzzDesk: a document that is accepted is written again and read as the same, and every form of it has a draft or
// mistakes.
func FuzzDesk(f *testing.F) {
	w := world(f)
	b := w.NewCalls(caip.EVM(8453))
	b.Calls[0].Pay(caip.ERC20(8453, [20]byte{1}), payee, "250.5")
	b.Allow = []*Allowance{{Asset: "eip155:8453/slip44:60", Spender: payee, Amount: "1"}}
	b.Overrides = []*Override{{Address: payee, Slots: []*Slot{{"1", "2"}}}}
	x := NewExchange(intent.KindSwap)
	x.Pay, x.At, x.Amount = "ob:usdc", caip.EVM(10), "max"
	seed, err := Desk{Calls: b, Swap: x}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"version":1,"calls":{"chain":"eip155:1","calls":[null],"slip":{"preset":0}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := w.ParseDesk(raw)
		if err != nil {
			return
		}
		for _, f := range []Form{d.Calls, d.Transfer, d.Swap} {
			if f == Form((*Calls)(nil)) || f == Form((*Exchange)(nil)) {
				continue
			}
			w.Cautions(f)
			if len(w.Mistakes(f, true)) == 0 {
				_, _ = intent.Freeze(f.Draft(w), w.Rules())
			}
		}
		first, err := d.Encode()
		if err != nil {
			return // text that is not UTF-8 is not saved
		}
		again, err := w.ParseDesk(first)
		if err != nil {
			t.Fatalf("written, but not read again: %v\n%s", err, first)
		}
		if second, err := again.Encode(); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}

// FuzzTemplates: templates that are accepted are written again and read as the same.
func FuzzTemplates(f *testing.F) {
	w := world(f)
	seed, err := EncodeTemplates([]Template{NewTemplate("one", w.NewCalls(caip.EVM(8453))),
		NewTemplate("two", NewExchange(intent.KindTransfer))})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := w.ParseTemplates(raw)
		if err != nil {
			return
		}
		first, err := EncodeTemplates(list)
		if err != nil {
			return // text that is not UTF-8 is not saved
		}
		again, err := w.ParseTemplates(first)
		if second, bad := EncodeTemplates(again); err != nil || bad != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v %v\n%s\n%s", err, bad, first, second)
		}
	})
}

// FuzzDocument: the form of a document that is accepted has its calls, or mistakes at its fields.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"version":1,"targetChain":"eip155:10","calls":[{"to":"0x01","data":"0xabc","value":"0x5"}]}`))
	f.Add([]byte(`{"version":"1.0","chainId":"10","meta":{},"transactions":[{"to":"` + payee +
		`","value":"1","data":"0xa9059cbb"}]}`))
	w := world(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := ReadDocument(raw)
		if err != nil {
			return
		}
		form := w.FormOf(doc.Draft)
		if len(w.Mistakes(form, true)) > 0 {
			return
		}
		d := form.Draft(w)
		for i, want := range doc.Draft.Calls {
			if got := d.Calls[i]; !strings.EqualFold(got.To, strings.TrimSpace(want.To)) ||
				!strings.EqualFold(got.Data, want.Data) && len(want.Data) > 2 {
				t.Fatalf("call %d of the file is %+v, of the form %+v", i, want, got)
			}
		}
	})
}

// FuzzABI: an ABI that is accepted offers functions that can be shown and chosen.
func FuzzABI(f *testing.F) {
	f.Add([]byte(
		`[{"type":"function","name":"f","inputs":[{"name":"x","type":"tuple[]","components":[{"name":"a",` +
			`"type":"uint8"}]}],"stateMutability":"payable"},{"type":"event","name":"e"}]`))
	f.Add([]byte(`{"abi":[{"name":"g","inputs":[],"payable":false}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := ReadABI(raw)
		if err != nil {
			return
		}
		for _, o := range list {
			c := &Call{}
			c.ABI = list
			c.Signature = o.Fn.String()
			c.ReadSignature(false)
			if c.SigErr == "" && c.Fn.Signature() != o.Fn.Signature() {
				t.Fatalf("%s became %s", o.Fn.Signature(), c.Fn.Signature())
			}
			c.coin()
		}
	})
}

// FuzzQuantity: a number with or without a unit is read exactly or refused.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"250.5", "20 gwei", "1 wei", "1.5 ether", "0x10", "3USDC", "1e5", "."} {
		f.Add(s, 6)
		f.Add(s, 18)
	}
	f.Fuzz(func(t *testing.T, text string, decimals int) {
		v, err := Quantity(text, max(0, min(77, decimals)), "USDC")
		if err == nil && (v == nil || v.Sign() < 0 || v.BitLen() > 256) {
			t.Fatalf("%q is %v", text, v)
		}
		_ = suspicious(v, decimals, "USDC", true)
	})
}

// FuzzArgument: the text of one argument is taken whole or refused, and what is taken is encoded or has a mistake.
func FuzzArgument(f *testing.F) {
	for _, s := range [][2]string{{"uint256 a", "25 usdc"}, {"uint256[] a", `["3","4"]`}, {"(address to, bool yes) b",
		`["` + payee + `", true]`}, {"uint256[2] a", `["1"]`}, {"bytes a", "0x0"}, {"string a", ""},
		{"bool[] a", "[[]]"}} {
		f.Add(s[0], s[1])
	}
	w := world(f)
	f.Fuzz(func(t *testing.T, param, text string) {
		c := &Call{To: usdc, Signature: "f(" + param + ")"}
		c.ReadSignature(false)
		if c.Fn == nil || len(c.Args) != 1 || c.Args[0].Read(text) != "" {
			return
		}
		at := w.Target(caip.EVM(8453), c.To)
		if _, ok := c.Calldata(at); ok == (len(c.argMistakes(at, true)) > 0) {
			t.Fatalf("%s of %q: encoded %v, mistakes %v", param, text, ok, c.argMistakes(at, true))
		}
	})
}
