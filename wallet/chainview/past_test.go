package chainview_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/wallet/chainview"
)

// solanaGenesis is that of Solana's devnet.
const solanaGenesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"

// landed is a transaction as a node has it.
type landed struct {
	signature string
	slot      uint64
	names     []string
	answer    map[string]any
}

// ledger is a chain that nodes serve.
type ledger struct {
	t      *testing.T
	landed []landed // oldest first
}

func signer(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func keyOf(k ed25519.PrivateKey) solmsg.Key { return solmsg.Key(k.Public().(ed25519.PublicKey)) }

// lands adds a transaction that moves lamports, with what its accounts held in tokens before and after.
func (l *ledger) lands(slot uint64, from ed25519.PrivateKey, to solmsg.Key, lamports uint64, memo string,
	before, after []any) string {
	l.t.Helper()
	builds := []solmsg.Build{solmsg.SystemTransfer(keyOf(from), to, lamports)}
	builds = append(builds, solmsg.Memo(fmt.Sprintf("%s%d", memo, len(l.landed))))
	if memo != "" {
		builds[1] = solmsg.Memo(memo)
	}
	for _, b := range append(slices.Clone(before), after...) { // the token accounts have a part in it
		at := b.(map[string]any)["at"].(solmsg.Key)
		builds = append(builds, solmsg.SystemTransfer(keyOf(from), at, 1))
	}
	m, err := solmsg.Compose(keyOf(from), solmsg.Key{9}, builds...)
	if err != nil {
		l.t.Fatal(err)
	}
	sig := [64]byte(ed25519.Sign(from, m.Bytes()))
	pre, post, names := make([]uint64, len(m.Keys)), make([]uint64, len(m.Keys)), []string{}
	for i, k := range m.Keys {
		names = append(names, k.String())
		switch pre[i], post[i] = 1e15, 1e15; k {
		case keyOf(from):
			post[i] -= lamports + 5000
		case to:
			post[i] += lamports
		}
	}
	for _, list := range [][]any{before, after} {
		for _, b := range list {
			x := b.(map[string]any)
			x["accountIndex"] = slices.Index(m.Keys, x["at"].(solmsg.Key))
		}
	}
	x := landed{signature: solmsg.FormatSignature(sig), slot: slot, names: names}
	x.answer = map[string]any{"slot": slot, "blockTime": 1_700_000_000 + slot, "version": 0,
		"transaction": []string{base64.StdEncoding.EncodeToString(append(append([]byte{1}, sig[:]...), m.Bytes()...)),
			"base64"},
		"meta": map[string]any{"err": nil, "fee": 5000, "preBalances": pre, "postBalances": post,
			"preTokenBalances": before, "postTokenBalances": after,
			"loadedAddresses": map[string]any{"writable": []string{}, "readonly": []string{}}}}
	l.landed = append(l.landed, x)
	return x.signature
}

// held is a token account in a list of balances.
func held(t *testing.T, owner, mint solmsg.Key, amount string) any {
	at, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"at": at, "mint": mint.String(), "owner": owner.String(),
		"uiTokenAmount": map[string]any{"amount": amount, "decimals": 6}}
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if json.NewDecoder(r.Body).Decode(&call) != nil {
		return
	}
	var of string
	var c struct {
		Limit  int    `json:"limit"`
		Before string `json:"before"`
	}
	if len(call.Params) > 1 {
		_, _ = json.Unmarshal(call.Params[0], &of), json.Unmarshal(call.Params[1], &c)
	}
	var result any
	switch call.Method {
	case "getGenesisHash":
		result = solanaGenesis
	case "getSlot":
		result = 1 << 20
	case "getTransaction":
		if i := slices.IndexFunc(l.landed, func(x landed) bool { return x.signature == of }); i >= 0 {
			result = l.landed[i].answer
		}
	case "getSignaturesForAddress":
		list, on := []any{}, c.Before == ""
		for _, x := range slices.Backward(l.landed) {
			if on && slices.Contains(x.names, of) && len(list) < c.Limit {
				list = append(list, map[string]any{"signature": x.signature, "slot": x.slot, "err": nil, "memo": nil,
					"blockTime": 1_700_000_000 + x.slot})
			}
			on = on || x.signature == c.Before
		}
		result = list
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
}

// sees is a view through nodes of the ledger.
func (l *ledger) sees(nodes int) (*chainview.View, []*faultproxy.Proxy) {
	l.t.Helper()
	n := chainview.Node{Solana: solanaGenesis[:32], Quorum: min(nodes, 2)}
	var proxies []*faultproxy.Proxy
	for i := range nodes {
		p := faultproxy.New(l, uint64(i))
		l.t.Cleanup(p.Close)
		proxies, n.Endpoints = append(proxies, p), append(n.Endpoints, rpcpool.Endpoint{URL: p.URL})
	}
	v, err := chainview.New([]chainview.Node{n})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(v.Close)
	return v, proxies
}

func (l *ledger) all(v *chainview.View, w chainview.Whose, most int) (all []chainview.Transaction) {
	l.t.Helper()
	var at chainview.Place
	for end := false; !end; {
		var list []chainview.Moment
		var err error
		if list, end, err = v.Listed(l.t.Context(), w, at, most); err != nil {
			l.t.Fatal(err)
		}
		seen, err := v.Seen(l.t.Context(), w, list)
		if err != nil {
			l.t.Fatal(err)
		}
		if all = append(all, seen...); len(list) > 0 {
			at = list[len(list)-1].After
		}
	}
	return all
}

// What came in and went out of SOL and tokens is read exactly, and which message the account signed itself.
func TestAViewReadsWhatOthersDidOnSolana(t *testing.T) {
	l := &ledger{t: t}
	me, other, mint := signer(1), signer(2), solmsg.Key{7, 7}
	quote := "0x" + strings.Repeat("ab", 32)
	l.lands(10, other, keyOf(me), 500, quote, nil, nil) // its memo is another's
	l.lands(11, me, keyOf(other), 300, quote, nil, nil)
	l.lands(12, other, solmsg.Key{5}, 1, "", []any{held(t, keyOf(me), mint, "4")},
		[]any{held(t, keyOf(me), mint, "18446744073709551615")})
	failed := l.lands(13, me, keyOf(other), 0, "", nil, nil)
	l.landed[3].answer["meta"].(map[string]any)["err"] = map[string]any{"InstructionError": []any{0, "x"}}
	lost := l.lands(14, other, keyOf(me), 1, "", nil, nil)
	l.landed[4].answer = nil
	v, proxies := l.sees(2)
	w := chainview.Whose{Account: keyOf(me), Mints: []solmsg.Key{mint}}
	got := l.all(v, w, 100)
	type want struct{ moves, fee, quote string }
	wants := []want{{"[]", "<nil>", ""}, {"[]", "5000", ""},
		{"[{Asset:" + caip.SPL(mint).String() + " Amount:+18446744073709551611}]", "0", ""},
		{"[{Asset:" + caip.SOL().String() + " Amount:-300}]", "5000", quote},
		{"[{Asset:" + caip.SOL().String() + " Amount:+500}]", "0", ""}}
	if len(got) != len(wants) {
		t.Fatalf("%+v", got)
	}
	for i, x := range got {
		if is := (want{fmt.Sprintf("%+v", x.Moves), fmt.Sprint(x.Fee), x.Quote}); is.moves != wants[i].moves ||
			is.fee != wants[i].fee || strings.HasPrefix(x.Quote, "0x") != (wants[i].quote != "") {
			t.Errorf("%d: %+v, want %+v", i, is, wants[i])
		}
	}
	if got[0].Signature != lost || got[0].Unknown == "" || got[1].Signature != failed || !got[1].Failed ||
		got[4].At.Unix() != 1_700_000_010 {
		t.Errorf("%+v", got)
	}
	before := proxies[0].Calls("getTransaction")
	if again := l.all(v, w, 100); len(again) != 5 || proxies[0].Calls("getTransaction")-before > 1 {
		t.Error("what is final is read again")
	}
}

// Whole moments in any sizes of pages: nothing is left out and nothing doubled, also where one transaction names both
// the account and its token account, and while more lands.
func TestAReadingOnSolanaHasNoGapAndNothingTwice(t *testing.T) {
	l := &ledger{t: t}
	me, other, mint := signer(1), signer(2), solmsg.Key{7, 7}
	for i := range 260 {
		var before []any
		to := keyOf(me)
		if i%3 == 0 {
			before = []any{held(t, keyOf(me), mint, "4")}
		}
		if i%6 == 0 {
			to = solmsg.Key{5}
		}
		l.lands(uint64(10+i/3), other, to, uint64(i), "", before, nil)
	}
	v, _ := l.sees(1)
	w := chainview.Whose{Account: keyOf(me), Mints: []solmsg.Key{mint}}
	for _, most := range []int{1, 7, 25, 1000} {
		var got []string
		var at chainview.Place
		for end, n := false, 0; !end; n++ {
			list, done, err := v.Listed(t.Context(), w, at, most)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				got = append(got, m.Signatures...)
				at = m.After
			}
			if end = done; n == 2 { // it is for the next reading
				l.lands(uint64(1000+most), other, keyOf(me), 1, "", nil, nil)
			}
		}
		met := map[string]bool{}
		for _, s := range got {
			if met[s] {
				t.Fatalf("%d at once: %s is there twice", most, s)
			}
			met[s] = true
		}
		want := 0
		for _, x := range l.landed[:260] {
			if !met[x.signature] {
				t.Errorf("%d at once: slot %d is missing", most, x.slot)
			}
			want++
		}
		if len(got) < want {
			t.Errorf("%d of %d", len(got), want)
		}
	}
}

// Nodes that are silent, differ or write another form tell nothing, in words; one that lies is outvoted.
func TestNodesThatLieAboutThePastTellNothing(t *testing.T) {
	l := &ledger{t: t}
	me, other := signer(1), signer(2)
	l.lands(10, other, keyOf(me), 500, "", nil, nil)
	first := l.lands(11, other, keyOf(me), 700, "", nil, nil)
	w := chainview.Whose{Account: keyOf(me)}
	try := func(nodes int, rules ...faultproxy.Rule) (int, error) {
		v, proxies := l.sees(nodes)
		proxies[0].Script(rules...)
		list, _, err := v.Listed(t.Context(), w, chainview.Place{}, 10)
		if err == nil {
			var seen []chainview.Transaction
			seen, err = v.Seen(t.Context(), w, list)
			return len(seen), err
		}
		return 0, err
	}
	hides := faultproxy.Rule{On: "getSignaturesForAddress", Fault: faultproxy.Lie("", []any{})}
	if n, err := try(3, hides); n != 2 || err != nil {
		t.Errorf("one of three hides: %d, %v", n, err)
	}
	if _, err := try(2, hides); err == nil || err.Error() != "your nodes do not agree" {
		t.Errorf("one of two hides: %v", err)
	}
	// One that is a moment behind has the same soon.
	v, proxies := l.sees(2)
	late := hides
	late.Times = 1
	proxies[0].Script(late)
	if list, _, err := v.Listed(t.Context(), w, chainview.Place{}, 10); len(list) != 2 || err != nil {
		t.Errorf("a node a moment behind: %+v, %v", list, err)
	}
	for name, rule := range map[string]faultproxy.Rule{
		"a signature that is none": {On: "getSignaturesForAddress", Fault: faultproxy.Lie("0.signature", "x")},
		"one twice":                {On: "getSignaturesForAddress", Fault: faultproxy.Lie("1.signature", first)},
		"out of order":             {On: "getSignaturesForAddress", Fault: faultproxy.Lie("1.slot", 12)},
		"a time before time":       {On: "getSignaturesForAddress", Fault: faultproxy.Lie("0.blockTime", -1)},
		"no list":                  {On: "getSignaturesForAddress", Fault: faultproxy.Lie("", 5)},
		"another slot":             {On: "getTransaction", Fault: faultproxy.Lie("slot", 99)},
		"another transaction": {On: "getTransaction", Fault: faultproxy.Lie("transaction",
			l.landed[0].answer["transaction"])},
		"no bytes":       {On: "getTransaction", Fault: faultproxy.Lie("transaction", []string{"", "base64"})},
		"fewer balances": {On: "getTransaction", Fault: faultproxy.Lie("meta.preBalances", []int{1})},
		"more than u64":  {On: "getTransaction", Fault: faultproxy.Lie("meta.postBalances.0", -5)},
		"loaded accounts": {On: "getTransaction", Fault: faultproxy.Lie("meta.loadedAddresses.writable",
			[]string{keyOf(me).String()})},
		"another chain": {On: "getGenesisHash", Fault: faultproxy.Lie("",
			"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")},
		"web pages": {Fault: faultproxy.HTML()},
	} {
		if n, err := try(1, rule); err == nil || n != 0 || err.Error() == "" {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	// The bytes are those that were signed: a changed one is another transaction.
	x := l.landed[1].answer["transaction"].([]string)
	raw, _ := base64.StdEncoding.DecodeString(x[0])
	raw[len(raw)-1] ^= 1
	changed := faultproxy.Rule{On: "getTransaction", Fault: faultproxy.Lie("transaction",
		[]string{base64.StdEncoding.EncodeToString(raw), "base64"})}
	if n, err := try(1, changed); err == nil || n != 0 {
		t.Errorf("changed bytes: %d, %v", n, err)
	}
}
