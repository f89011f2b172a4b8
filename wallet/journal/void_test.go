package journal_test

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// approval is an endless signature of a role-based account.
func approval(seq uint64) journal.Signature {
	s := paying("prepared", 0, seq, "5", "")
	s.Kind, s.ValidUntil = api.AccountRoleBased, verify.NoEnd
	return s
}

func TestU3_AVoidedApprovalBlocksItsLaneNoMoreAndStaysListed(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	id := run(t, j, append(signedRun(approval(4)), step{journal.Abandoned, journal.Entry{Note: "given up"}}))
	before := j.Operations()[0]
	must(t, j.Void(id, approval(4).OpHash, "typed 00a1"))
	j.Close()
	o, ids := options(), counter(0x40)
	o.Random = &ids
	j = open(t, dir, o)
	if j.ReadOnly() != nil {
		t.Fatal(j.ReadOnly())
	}
	list := j.Outstanding(now())
	if len(list) != 1 || !strings.HasPrefix(list[0].Void, "Voided by you on 9 October 2025, 08:53 UTC (typed 00a1).") ||
		!list[0].VoidedAt.Equal(now()) || list[0].Voidable() {
		t.Fatalf("%+v", list)
	}
	if o := j.Operations()[0]; o.State != journal.Abandoned || o.Note != before.Note ||
		!o.Updated.Equal(before.Updated) {
		t.Errorf("the operation changed: %+v", o)
	}
	if n := j.LiveNonces(account, 8453, 0, now()); len(n) != 0 {
		t.Errorf("live: %v", n)
	}
	if n, known := j.NextSequence(account, 8453, 0); known {
		t.Errorf("a voided nonce says that %d is next", n)
	}
	if got := total(j.Spent(now()), usdc); got != "5" {
		t.Errorf("%s spent: a word takes nothing off", got)
	}
	other := run(t, j, signedRun(approval(7)))
	if n := j.LiveNonces(account, 8453, 0, now()); len(n) != 1 || n[0].Cmp(nonceOf(approval(7))) != 0 {
		t.Errorf("live: %v", n)
	}
	if list = j.Outstanding(now()); len(list) != 2 || list[1].Op != other {
		t.Errorf("%+v", list)
	}
}

func nonceOf(s journal.Signature) *big.Int {
	n, _ := new(big.Int).SetString(s.Nonce, 10)
	return n
}

func TestU3_ASignatureMadeAgainIsVoidNoMore(t *testing.T) {
	j := open(t, dirOf(t), options())
	id := run(t, j, signedRun(approval(4)))
	must(t, j.Void(id, approval(4).OpHash, "x"))
	must(t, j.Append(id, journal.Prepared, journal.Entry{}))
	must(t, j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{approval(4)}}))
	if list := j.Outstanding(now()); len(list) != 1 || !list[0].VoidedAt.IsZero() ||
		len(j.LiveNonces(account, 8453, 0, now())) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestU3_OnlyAnOpenSignatureWithoutAnEndCanBeVoided(t *testing.T) {
	j := open(t, dirOf(t), options())
	ends := run(t, j, signedRun(signature("prepared", 0, 4, now().Unix()+600)))
	endless := approval(4)
	endless.Lane, endless.Nonce = 3, signature("", 3, 4, 0).Nonce
	open := run(t, j, signedRun(endless))
	must(t, j.Void(open, endless.OpHash, "x"))
	used := approval(5)
	used.Lane, used.Nonce = 5, signature("", 5, 5, 0).Nonce
	done := run(t, j, append(signedRun(used), step{journal.Quoted, journal.Entry{QuoteID: "0x5"}},
		step{journal.QuoteSigned, journal.Entry{QuoteID: "0x5"}},
		step{journal.Executing, journal.Entry{QuoteID: "0x5"}}, end("0x5", "COMPLETED", used.OpHash)))
	for name, c := range map[string]struct{ op, hash string }{
		"ends by itself": {ends, "0xprepared4"}, "voided before": {open, endless.OpHash}, "used": {done, used.OpHash},
		"another hash": {open, "0x99"}, "no hash": {open, ""},
	} {
		if err := j.Void(c.op, c.hash, "x"); !errors.Is(err, journal.ErrVoid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := j.Void("nobody", endless.OpHash, "x"); err == nil {
		t.Error("an unknown operation was voided")
	}
}

// An earlier program takes the type of the record for damage and opens the file read-only, as this one does with a type
// that it does not know.
func TestJ5_ARecordOfAnUnknownTypeMakesTheFileReadOnly(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	id := run(t, j, signedRun(approval(4)))
	path := filepath.Join(dir, "journal")
	old, err := os.ReadFile(path)
	must(t, err)
	must(t, j.Void(id, approval(4).OpHash, "x"))
	j.Close()
	b, err := os.ReadFile(path)
	must(t, err)
	if b[len(old)+4] != 11 || !bytes.HasPrefix(b, old) {
		t.Fatalf("type %d", b[len(old)+4])
	}
	b[len(old)+4] = 12
	must(t, os.WriteFile(path, b, 0o600))
	k := open(t, dir, options())
	if err := k.Void(id, approval(4).OpHash, "x"); !errors.Is(err, journal.ErrReadOnly) || len(k.Operations()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestU3_APaymentInAnotherPlaceWaitsForTheOneThatWasSent(t *testing.T) {
	at := func(chain uint64, seq uint64) journal.Signature {
		s := paying("funding", 1, seq, "40", "0x2")
		s.ChainID = chain
		return s
	}
	solana := message("m2", "0x2")
	for name, c := range map[string]struct {
		sent    bool
		after   time.Duration
		next    []journal.Signature
		refused bool
	}{
		"another chain":               {true, 0, []journal.Signature{at(10, 4)}, true},
		"the same and another":        {true, 0, []journal.Signature{at(8453, 4), at(10, 4)}, true},
		"another kind":                {true, 0, []journal.Signature{solana}, true},
		"the same place":              {true, 0, []journal.Signature{at(8453, 4)}, false},
		"not sent":                    {false, 0, []journal.Signature{at(10, 4)}, false},
		"within the margin":           {true, 659 * time.Second, []journal.Signature{at(10, 4)}, true},
		"after the end of its window": {true, 661 * time.Second, []journal.Signature{at(10, 4)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			j, clock := clocked(t)
			n := 4
			if c.sent {
				n = 5
			}
			id := run(t, j, pays("0x1", "100", 4)[:n])
			must(t, j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0x1"}))
			*clock = clock.Add(c.after)
			must(t, j.Append(id, journal.Quoted, journal.Entry{QuoteID: "0x2"}))
			err := j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0x2", Signatures: c.next})
			if errors.Is(err, journal.ErrPaid) != c.refused || (err != nil) != c.refused {
				t.Fatal(err)
			}
			// a quote that asks for no payment at all
			none := journal.PaidElsewhere(id, j.Outstanding(*clock), "0x3", nil)
			if (len(none) > 0) != (c.sent && c.after < 661*time.Second) {
				t.Errorf("%+v", none)
			}
		})
	}
}
