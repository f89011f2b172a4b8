package chainview

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
)

// answered is a node's answer about a transaction of an account that moved 300 lamports out and 4 of a token in.
func answered(t *testing.T) (whose Whose, name string, mint solmsg.Key, raw []byte, w *wireTransaction) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	me := solmsg.Key(key.Public().(ed25519.PublicKey))
	mint = solmsg.Key{7}
	at, err := solmsg.AssociatedTokenAccount(me, mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	m, err := solmsg.Compose(me, solmsg.Key{9}, solmsg.SystemTransfer(me, at, 300), solmsg.Memo("hello"))
	if err != nil {
		t.Fatal(err)
	}
	sig := [64]byte(ed25519.Sign(key, m.Bytes()))
	raw = append(append([]byte{1}, sig[:]...), m.Bytes()...)
	meta := &wireMeta{Fee: 5000, Pre: make([]uint64, len(m.Keys)), Post: make([]uint64, len(m.Keys))}
	meta.Pre[0], meta.Post[0], meta.Post[1] = 10_000, 4_700, 300
	meta.After = []wireToken{{Index: 1, Mint: mint.String(), Owner: me.String()}}
	meta.After[0].Amount.Amount = "4"
	return Whose{Account: me, Mints: []solmsg.Key{mint}}, solmsg.FormatSignature(sig), mint, raw,
		&wireTransaction{Slot: 7, Transaction: []string{base64.StdEncoding.EncodeToString(raw), "base64"}, Meta: meta}
}

// What is taken from an answer is the transaction that was asked for, as it was signed; whose tokens they are decides
// what counts. Anything else is refused.
func TestAnAnswerAboutAnotherTransactionIsRefused(t *testing.T) {
	moved := func(whose Whose, w *wireTransaction, name string) (string, error) {
		x := Transaction{Signature: name, Slot: 7}
		err := w.read(whose, &x)
		return fmt.Sprintf("%v %v %s", x.Moves, x.Fee, x.Unknown), err
	}
	whose, name, mint, raw, w := answered(t)
	all := fmt.Sprintf("[{%s -300} {%s 4}] 5000 ", caip.SOL(), caip.SPL(mint))
	if got, err := moved(whose, w, name); err != nil || got != all {
		t.Fatalf("%s, %v", got, err)
	}
	w.Meta.After[0].Owner = "" // of an old node: the account is the owner's associated one
	if got, err := moved(whose, w, name); err != nil || got != all {
		t.Errorf("without an owner: %s, %v", got, err)
	}
	w.Meta.After[0].Owner = solmsg.Key{5}.String()
	if got, err := moved(whose, w, name); err != nil || got != fmt.Sprintf("[{%s -300}] 5000 ", caip.SOL()) {
		t.Errorf("another's tokens: %s, %v", got, err)
	}
	other := Whose{Account: solmsg.Key{6}}
	if got, err := moved(other, w, name); err != nil || got != "[] 0 " {
		t.Errorf("of another account: %s, %v", got, err)
	}
	for what, change := range map[string]func(w *wireTransaction){
		"another byte of the message": func(w *wireTransaction) {
			changed := append([]byte(nil), raw...)
			changed[len(changed)-2] ^= 1 // of the memo
			w.Transaction[0] = base64.StdEncoding.EncodeToString(changed)
		},
		"another encoding":       func(w *wireTransaction) { w.Transaction[1] = "base58" },
		"another slot":           func(w *wireTransaction) { w.Slot++ },
		"more signatures":        func(w *wireTransaction) { w.Transaction[0] = "gA" + w.Transaction[0][2:] },
		"nothing but signatures": func(w *wireTransaction) { w.Transaction[0] = w.Transaction[0][:84] },
		"no signature":           func(w *wireTransaction) { w.Transaction[0] = "AAAA" },
		"a signature too many": func(w *wireTransaction) {
			w.Transaction[0] = base64.StdEncoding.EncodeToString(append(append([]byte{2}, raw[1:65]...), raw[1:]...))
		},
		"accounts of no table, with balances": func(w *wireTransaction) {
			w.Meta.Loaded.Writable = []string{solmsg.Key{3}.String()}
			w.Meta.Pre, w.Meta.Post = append(w.Meta.Pre, 0), append(w.Meta.Post, 9)
		},
		"accounts of no table":  func(w *wireTransaction) { w.Meta.Loaded.Writable = []string{mint.String()} },
		"read-only ones":        func(w *wireTransaction) { w.Meta.Loaded.Readonly = []string{mint.String()} },
		"a balance too few":     func(w *wireTransaction) { w.Meta.Pre = w.Meta.Pre[1:] },
		"a balance too many":    func(w *wireTransaction) { w.Meta.Post = append(w.Meta.Post, 1) },
		"an account twice":      func(w *wireTransaction) { w.Meta.After = append(w.Meta.After, w.Meta.After[0]) },
		"an account beyond":     func(w *wireTransaction) { w.Meta.After[0].Index = len(w.Meta.Pre) },
		"an account before":     func(w *wireTransaction) { w.Meta.After[0].Index = -1 },
		"a mint that is none":   func(w *wireTransaction) { w.Meta.After[0].Mint = "x" },
		"an amount below zero":  func(w *wireTransaction) { w.Meta.After[0].Amount.Amount = "-4" },
		"an amount in decimals": func(w *wireTransaction) { w.Meta.After[0].Amount.Amount = "0.4" },
		"more than 64 bits":     func(w *wireTransaction) { w.Meta.After[0].Amount.Amount = "18446744073709551616" },
	} {
		_, _, _, _, w := answered(t)
		change(w)
		if got, err := moved(whose, w, name); !errors.Is(err, errPast) {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
	_, _, _, _, w = answered(t)
	w.Meta = nil
	if got, err := moved(whose, w, name); err != nil || got != "[] <nil> your node kept no balances of it" {
		t.Errorf("without balances: %s, %v", got, err)
	}
}

// A list names each transaction once, the newest first, and none that was listed before.
func TestAListOutOfOrderIsRefused(t *testing.T) {
	name := func(n byte) string { return solmsg.FormatSignature([64]byte{n}) }
	list := func(slots ...uint64) (out []listedEntry) {
		for i, s := range slots {
			out = append(out, listedEntry{Signature: name(byte(i + 1)), Slot: s})
		}
		return out
	}
	if !listedWell(list(9, 9, 7), name(200)) || !listedWell(nil, "") {
		t.Error("a list in order is refused")
	}
	late, early := int64(lastSecond+1), int64(-1)
	for what, x := range map[string][]listedEntry{
		"a newer one below":    list(7, 9),
		"one twice":            append(list(9), list(9)...),
		"one of before":        {{Signature: name(200), Slot: 7}},
		"a name that is none":  {{Signature: "x", Slot: 7}},
		"after the year 9999":  {{Signature: name(1), Slot: 7, BlockTime: &late}},
		"before there is time": {{Signature: name(1), Slot: 7, BlockTime: &early}},
		"more than asked for":  list(make([]uint64, listedAtOnce+1)...),
	} {
		if listedWell(x, name(200)) {
			t.Errorf("%s is taken", what)
		}
	}
}
