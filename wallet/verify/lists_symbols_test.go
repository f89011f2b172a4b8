package verify_test

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/verify"
)

func TestTH_B4_LookAlikesOfKnownSymbolsAreRefused(t *testing.T) {
	s := verify.NewSymbols(listCatalog(t))
	for _, c := range []struct{ symbol, like string }{
		{"USDC", "USDC"}, {"usdc", "USDC"}, {"U\u0405DC", "USDC"}, {"USD\u0421", "USDC"}, {"\u222aSDC", "USDC"},
		{"U$DC", "USDC"}, {"U5DC", "USDC"}, {"USDC.", "USDC"},
		{"$USDC", "USDC"}, {"US\u200bDC", "USDC"}, {"\u202eUSDC", "USDC"}, {"USDC\ufeff", "USDC"},
		{"US\u00adDC", "USDC"}, {"U\u0301SDC", "USDC"}, {"ÚŠĎČ", "USDC"},
		{"ＵＳＤＣ", "USDC"}, {"𝐔𝐒𝐃𝐂", "USDC"}, {"𝚞𝚜𝚍𝚌", "USDC"}, {"ⓊⓈⒹⒸ", "USDC"}, {"🅄🅂🄳🄲", "USDC"}, {"🇺🇸🇩🇨", "USDC"},
		{"USD C", "USDC"}, {"US\tDC", "USDC"}, {"USclC", "USDC"},
		{"U\U000e0053SDC", "USDC"}, {"USDC\ufe0f", "USDC"}, {"ꓴꓢꓓꓚ", "USDC"}, {"USꭰC", "USDC"}, {"ᴜꜱᴅᴄ", "USDC"},
		{"USD\u0422", "USDT"}, {"U\u0405D\u03a4", "USDT"}, {"\u0395\u03a4\u0397", "ETH"}, {"ЕТН", "ETH"},
		{"𝛦𝛵𝛨", "ETH"}, {"ETH＋", "ETH+"}, {"ETH\u2795", "ETH+"},
		{"VVETH", "WETH"}, {"ꓪETH", "WETH"}, {"\u051cETH", "WETH"}, {"W8TC", "WBTC"}, {"WВТС", "WBTC"},
		{"w\u0455tETH", "wstETH"}, {"cbВТC", "cbBTC"},
		{"L1NK", "LINK"}, {"IlNK", "LINK"}, {"LlNK", "LINK"}, {"ⅬINK", "LINK"}, {"l1NCH", "1INCH"},
		{"UNI\u200d", "UNI"}, {"\u0405OL", "SOL"}, {"S0L", "SOL"}, {"SОL", "SOL"},
		{"DA1", "DAI"}, {"DАІ", "DAI"}, {"ΑRB", "ARB"}, {"0P", "OP"}, {"ОР", "OP"}, {"A\u0410VE", "AAVE"},
		{"AVA\u0425", "AVAX"}, {"USDC\u00b7e", "USDC.e"}, {"ZER0", "ZERO"}, {"РOL", "POL"},
	} {
		v, r := s.Judge(c.symbol)
		if r == nil || r.Code != "B4" || r.Level != verify.Refuse || v.Like != c.like {
			t.Errorf("%+q: %+v %+v", c.symbol, v, r)
		}
	}
}

func TestTH_B4_SymbolsOutsideTheAllowListAreEscapedAndUnverified(t *testing.T) {
	s := verify.NewSymbols(listCatalog(t))
	for _, plain := range []string{"NEW", "SEEN", "cUSDA", "x_Y-1", "FOO.e", "ABC+", "$WIF", "cETH"} {
		if v, r := s.Judge(plain); r != nil || !v.Plain || v.String() != plain || v.Like != "" {
			t.Errorf("%q: %+v %+v", plain, v, r)
		}
	}
	for in, text := range map[string]string{
		"NÉW":                   `N\u{c9}W`,
		"A\x1b[31mB":            `A\u{1b}\u{5b}31mB`,
		"X\u202eY":              `X\u{202e}Y`,
		"A B":                   `A\u{20}B`,
		"":                      "",
		"bad\xff":               `bad\u{fffd}`,
		strings.Repeat("Q", 33): strings.Repeat("Q", 32) + "...",
	} {
		v, r := s.Judge(in)
		if r == nil || r.Level != verify.Warn || r.Code != "B4" || v.Plain || v.Text != text ||
			v.String() != text+" (unverified)" {
			t.Errorf("%+q: %+v %+v", in, v, r)
		}
	}
}

// TestTH_B4_KnownSymbolsAreNoLookAlikesOfEachOther: otherwise one of ours would be told to be another.
func TestTH_B4_KnownSymbolsAreNoLookAlikesOfEachOther(t *testing.T) {
	c := listCatalog(t)
	s := verify.NewSymbols(c)
	for _, a := range c.Aggregates() {
		for _, e := range a.Entities {
			if v, _ := s.Judge(e.Symbol); v.Like != e.Symbol || !v.Plain {
				t.Errorf("%s reads as %s", e.Symbol, v.Like)
			}
		}
	}
}

func FuzzSymbols(f *testing.F) {
	for _, s := range []string{"USDC", "U\u0405DC", "\u202eUSDC", "\xff", strings.Repeat("\u0301", 300)} {
		f.Add(s)
	}
	symbols := verify.NewSymbols(listCatalog(f))
	f.Fuzz(func(t *testing.T, in string) {
		v, r := symbols.Judge(in)
		for _, b := range []byte(v.Text) {
			if b <= ' ' || b > '~' {
				t.Fatalf("%q shows %q", in, v.Text)
			}
		}
		if (v.Like != "" || !v.Plain) != (r != nil) || v.Plain && v.Text != in {
			t.Fatalf("%q: %+v %+v", in, v, r)
		}
		// What is invisible and put in changes nothing.
		if again, _ := symbols.Judge("\u200b" + in + "\u2060"); again.Like != v.Like {
			t.Fatalf("%q is like %q, with zero widths like %q", in, v.Like, again.Like)
		}
	})
}

func TestTH_H2_OnlyPagesOfTheKnownExplorerAreLinks(t *testing.T) {
	c := listCatalog(t)
	const lab = "https://lab.invalid:8443/api"
	for _, x := range []struct {
		kind    network.Kind
		service string
		chain   string
		link    string
		ok      bool
	}{
		{network.Real, lab, "eip155:8453", "https://basescan.org/tx/0x12", true},
		{network.Real, lab, "eip155:8453", "https://BASESCAN.org/tx/0x12#a", true},
		{network.Real, lab, "eip155:8453", "http://basescan.org/tx/0x12", false},
		{network.Real, lab, "eip155:10", "https://basescan.org/tx/0x12", false},
		{network.Real, lab, "eip155:666", "https://basescan.org/tx/0x12", false},
		{network.Real, lab, "Base", "https://basescan.org/tx/0x12", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org.evil.example/tx/0x12", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org@evil.example/", false},
		{network.Real, lab, "eip155:8453", "https://evil.example\\@basescan.org/", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org:444/tx/0x12", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org\u3002evil.example/", false},
		{network.Real, lab, "eip155:8453", "https://b\u0430sescan.org/tx/0x12", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org/\x1b]8;;http://evil.example\x1b\\", false},
		{network.Real, lab, "eip155:8453", "https://basescan.org/" + strings.Repeat("a", 3000), false},
		{network.Real, lab, "eip155:8453", "javascript:alert(1)//basescan.org", false},
		{network.Real, lab, "eip155:8453", "data:text/html,basescan.org", false},
		{network.Real, lab, "eip155:8453", "//basescan.org/tx/0x12", false},
		{network.Real, lab, "eip155:8453", "https:basescan.org", false},
		{network.Real, lab, "eip155:8453", "", false},
		{network.Real, lab, "eip155:8453", "https://lab.invalid:8443/explorer", false},
		{network.Lab, lab, "eip155:8453", "https://lab.invalid:8443/api/explorer/eip155:8453/tx/0x12", true},
		{network.Lab, lab, "eip155:8453", "http://lab.invalid:8443/api/explorer", false},
		{network.Lab, lab, "eip155:8453", "https://lab.invalid/api/explorer", false},
		{network.Lab, lab, "eip155:8453", "https://basescan.org/tx/0x12", false},
		{network.Embedded, "https://embedded.invalid/api", "eip155:8453", "https://embedded.invalid/api/explorer/x",
			true},
		{network.Embedded, "inside this program", "eip155:8453", "https://embedded.invalid/api/explorer/x", false},
		{network.Embedded, "", "eip155:8453", "", false},
		{"", lab, "eip155:8453", "https://lab.invalid:8443/", false},
	} {
		ok, r := verify.ExplorerURL(c, x.kind, x.service, x.chain, x.link)
		if ok != x.ok || ok != (r == nil) || r != nil &&
			(r.Code != "H2" || r.Level != verify.Warn || strings.ContainsRune(r.Got, '\x1b')) {
			t.Errorf("%s %s %q: %v %+v", x.kind, x.chain, x.link, ok, r)
		}
	}
	if ok, _ := verify.ExplorerURL(nil, network.Real, lab, "eip155:8453", "https://basescan.org/"); ok {
		t.Error("a page without a catalogue")
	}
}

func FuzzExplorerURL(f *testing.F) {
	c := listCatalog(f)
	f.Add("https://basescan.org/tx/0x12", "https://lab.invalid/api")
	f.Add("https://basescan.org@evil.example", "")
	f.Fuzz(func(t *testing.T, link, service string) {
		if ok, _ := verify.ExplorerURL(c, network.Real, service, "eip155:8453", link); ok {
			rest, https := strings.CutPrefix(strings.ToLower(link), "https://basescan.org")
			if !https || rest != "" && !strings.ContainsAny(rest[:1], "/?#") {
				t.Fatalf("%q passed", link)
			}
		}
		verify.ExplorerURL(c, network.Lab, service, "eip155:8453", link)
	})
}

func TestTH_H3_AContinuationIsBoundedAndNeverRepeated(t *testing.T) {
	seen := map[string]bool{"": true, "a": true}
	if more, why := verify.Continuation(seen, "b"); !more || why != nil {
		t.Fatal(why)
	}
	if more, why := verify.Continuation(seen, ""); more || why != nil {
		t.Fatalf("the end is no fault: %+v", why)
	}
	if more, why := verify.Continuation(seen, strings.Repeat("x", verify.MaxContinuation)); !more || why != nil {
		t.Fatal(why)
	}
	full := map[string]bool{}
	for i := range verify.MaxPages {
		full[strings.Repeat("p", i)] = true
	}
	for name, c := range map[string]struct {
		seen  map[string]bool
		token string
		says  string
	}{
		"again":    {seen, "a", "repeats"},
		"too long": {seen, strings.Repeat("x", verify.MaxContinuation+1), "too long"},
		"page cap": {full, "new", "more pages"},
	} {
		more, why := verify.Continuation(c.seen, c.token)
		if more || why == nil || why.Code != "H3" || !strings.Contains(why.Title, c.says) || len(why.Got) > 200 {
			t.Errorf("%s: %v %+v", name, more, why)
		}
	}
}

func TestTH_H4_OnlyCompletedIsSuccess(t *testing.T) {
	for status, want := range map[string]verify.StatusView{
		api.StatusPending:    {Text: "pending", Known: true},
		api.StatusInProgress: {Text: "in progress", Known: true},
		api.StatusExecuted:   {Text: "executed", Known: true},
		api.StatusCompleted:  {Text: "completed", Known: true, Success: true, Terminal: true},
		api.StatusRefunded:   {Text: "refunded", Known: true, Terminal: true},
		api.StatusFailed:     {Text: "failed", Known: true, Terminal: true},
		"":                   {Text: "unknown"},
		"completed":          {Text: "unknown: completed"},
		"COMPLETED ":         {Text: "unknown: COMPLETED "},
		"SUCCESS":            {Text: "unknown: SUCCESS"},
		"\x1b[32mCOMPLETED":  {Text: "unknown: \ufffd[32mCOMPLETED"},
	} {
		if got := verify.Status(status); got != want {
			t.Errorf("%q: %+v", status, got)
		}
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("COMPLETED", "next")
	f.Add("\u202eDETELPMOC", "")
	f.Fuzz(func(t *testing.T, status, token string) {
		v := verify.Status(status)
		if v.Success != (status == "COMPLETED") || !v.Known && !strings.HasPrefix(v.Text, "unknown") ||
			strings.ContainsAny(v.Text, "\x1b\u202e\n") {
			t.Fatalf("%q: %+v", status, v)
		}
		if more, _ := verify.Continuation(map[string]bool{token: true}, token); more {
			t.Fatalf("%q twice", token)
		}
	})
}
