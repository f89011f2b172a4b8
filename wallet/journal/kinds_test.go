package journal_test

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

const (
	usdc  = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	sol   = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"
	payer = "EkMehVu7aXiEBpnYr8HLEei7xf25Y5sjoHXPRviM2jTR"
)

// clocked opens a journal whose clock can be moved.
func clocked(t *testing.T) (*journal.Journal, *time.Time) {
	clock := now()
	o := options()
	o.Clock = func() time.Time { return clock }
	return open(t, dirOf(t), o), &clock
}

// message is the signature of a Solana message that dies in 90 seconds.
func message(name, quote string) journal.Signature {
	return journal.Signature{
		Role: "swap", Kind: api.AccountSolana, Chain: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", Sender: payer,
		BlockHash: "B1", OpHash: "0x" + name, Digest: "0x" + name,
		Signature: "0x01", Spend: []journal.Spend{{Asset: sol, Amount: "1005"}},
		Counts: []journal.Spend{{Asset: sol, Amount: "1000"}}, ValidUntil: now().Unix() + 90, QuoteID: quote,
	}
}

// delegated is the signature of an operation together with an authorization.
func delegated(seq, nonce uint64) journal.Signature {
	s := signature("prepared", 0, seq, now().Unix()+600)
	s.Kind = api.AccountKernelV33
	s.Delegation = &journal.Delegation{ChainID: 8453, Contract: "0x00000000000000000000000000000000000000dd",
		Nonce: nonce, Digest: "0xd" + s.Nonce, Signature: "0x02"}
	return s
}

// swap is a run of a swap, which has nothing to prepare.
func swap(quote string, signatures ...journal.Signature) []step {
	return []step{
		{journal.Quoted, journal.Entry{Document: []byte(`{"q":1}`), QuoteID: quote, Expires: now().Unix() + 30}},
		{journal.QuoteSigned, journal.Entry{QuoteID: quote, Signatures: signatures, Recipients: []string{payer},
			Confirmed: "ab cd", Summary: []string{"swap"}}},
		{journal.Executing, journal.Entry{QuoteID: quote}},
		{journal.Acked, journal.Entry{QuoteID: quote}},
	}
}

// kindsImage is a journal with a record of every kind of signature.
func kindsImage(t testing.TB) []byte {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, append(swap("0xAB", message("m1", "0xAB")), end("0xAB", "COMPLETED", "0xm1")))
	run(t, j, signedRun(delegated(4, 0)))
	endless := approval(4)
	must(t, j.Void(run(t, j, signedRun(endless)), endless.OpHash, "typed"))
	must(t, j.Repair(journal.Lane{ChainID: 8453, Account: account.Hex(), Sequence: 2}, "typed"))
	j.Close()
	b, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// end is a last record.
func end(quote, outcome string, used ...string) step {
	return step{journal.Done, journal.Entry{QuoteID: quote, Outcome: outcome, Used: used}}
}

func TestJ1_AJournalOfTheFirstFormatIsReadInFull(t *testing.T) {
	raw, err := os.ReadFile("testdata/kernel-calls.network.json")
	if err != nil {
		t.Fatal(err)
	}
	n, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile("testdata/kernel-calls.journal")
	if err != nil {
		t.Fatal(err)
	}
	dir := place(t, old)
	o := options()
	ids := counter(0x40)
	o.Random, o.Network, o.Clock = &ids, n.ID, func() time.Time { return now().Add(20 * time.Second) }
	j := open(t, dir, o)
	if j.ReadOnly() != nil || j.Repaired() != 0 {
		t.Fatal(j.ReadOnly(), j.Repaired())
	}
	var got []string
	signatures := 0
	for _, op := range j.Operations() {
		got = append(got, string(op.State)+" "+op.Outcome)
		for _, s := range op.Signatures {
			signatures++
			if s.Nonce == "" || s.Signature == "" || s.Made.IsZero() || s.Delegation != nil || s.BlockHash != "" {
				t.Errorf("%+v", s)
			}
		}
	}
	if strings.Join(got, ", ") != "DONE COMPLETED, DONE REFUNDED, ABANDONED , PREPARED , QUOTED , EXECUTING " ||
		signatures != 11 {
		t.Fatalf("%v, %d signatures", got, signatures)
	}
	if r := j.Recipients(); strings.Join(r, " ") !=
		"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 0x1111111111111111111111111111111111111111" {
		t.Errorf("recipients %v", r)
	}
	if len(j.Outstanding(now().Add(20*time.Second))) == 0 || len(j.Spent(now())) == 0 {
		t.Error("its signatures are not counted")
	}
	before, err := os.Stat(filepath.Join(dir, "journal"))
	if err != nil || before.Size() != int64(len(old)) {
		t.Fatal("opening it changed it", err)
	}
	// It goes on with records of today.
	run(t, j, swap("0xNEW", message("m1", "0xNEW")))
	j.Close()
	if k := open(t, dir, o); k.ReadOnly() != nil || len(k.Operations()) != 7 ||
		k.Operations()[6].Signatures[0].BlockHash != "B1" {
		t.Fatalf("%v %+v", k.ReadOnly(), k.Operations())
	}
}

func TestV6_WhatWasAgreedToIsOnRecord(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, append(swap("0xAB", message("m1", "0xAB")), end("0xAB", "COMPLETED", "0xm1")))
	j.Close()
	op := open(t, dir, options()).Operations()[0]
	if len(op.Agreed) != 1 || op.Agreed[0].Confirmed != "ab cd" || op.Agreed[0].Summary[0] != "swap" ||
		op.Agreed[0].State != journal.QuoteSigned || op.Agreed[0].At.IsZero() {
		t.Errorf("%+v", op.Agreed)
	}
	if s := op.Signatures[0]; s.Digest != "0xm1" || s.Signature != "0x01" || s.Spend[0].Amount != "1005" ||
		s.Counts[0].Amount != "1000" || op.Outcome != "COMPLETED" {
		t.Errorf("%+v", op)
	}
}

func TestJ2_ASignatureIsRecordedWithWhatItsRulesNeed(t *testing.T) {
	good := map[string]journal.Signature{"operation": signature("prepared", 0, 4, 1), "message": message("m1", ""),
		"delegation": delegated(4, 0)}
	for name, s := range good {
		j := open(t, dirOf(t), options())
		run(t, j, signedRun(s))
		if len(j.Operations()[0].Signatures) != 1 {
			t.Errorf("%s was not recorded", name)
		}
	}
	for name, change := range map[string]func(s *journal.Signature){
		"no hash":                 func(s *journal.Signature) { s.OpHash = "" },
		"no nonce":                func(s *journal.Signature) { s.Nonce = "" },
		"a nonce in words":        func(s *journal.Signature) { s.Nonce = "four" },
		"a nonce without end":     func(s *journal.Signature) { s.Nonce = strings.Repeat("9", 79) },
		"a message with a nonce":  func(s *journal.Signature) { s.BlockHash = "B1" },
		"a delegation everywhere": func(s *journal.Signature) { s.Delegation.ChainID = 0 },
		"an unnamed delegation":   func(s *journal.Signature) { s.Delegation.Digest = "" },
		"an unknown asset":        func(s *journal.Signature) { s.Spend[0].Asset = "gold" },
		"a broken amount":         func(s *journal.Signature) { s.Spend[0].Amount = "-1" },
		"a broken count": func(s *journal.Signature) {
			s.Counts = []journal.Spend{
				{Asset: usdc, Amount: "1e9"}}
		},
	} {
		j := open(t, dirOf(t), options())
		id := run(t, j, signedRun()[:1])
		s := delegated(4, 0)
		change(&s)
		if err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{s}}); err == nil ||
			len(j.Outstanding(now())) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	j := open(t, dirOf(t), options())
	id := run(t, j, signedRun()[:1])
	s := message("m1", "")
	s.Delegation = delegated(4, 0).Delegation
	if err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{s}}); err == nil {
		t.Error("a message that delegates was recorded")
	}
}

func TestJ4_AnAuthorizationIsOpenUntilTheAccountNonceMoved(t *testing.T) {
	j, clock := clocked(t)
	if _, known := j.NextAuthorization(account, 8453); known {
		t.Error("something is known about an EOA that never signed")
	}
	run(t, j, signedRun(delegated(4, 7)))
	list := j.Outstanding(*clock)
	if len(list) != 2 || list[1].Role != journal.RoleDelegation || list[1].Nonce != "7" ||
		list[1].Sender != account.Hex() || !strings.Contains(list[1].Void, "never expires") {
		t.Fatalf("%+v", list)
	}
	if n := j.LiveNonces(account, 8453, 0, *clock); len(n) != 1 {
		t.Errorf("an account nonce counts as one of a lane: %v", n)
	}
	if next, known := j.NextAuthorization(account, 8453); !known || next != 7 {
		t.Errorf("next %d %v", next, known)
	}
	if _, known := j.NextAuthorization(account, 10); known {
		t.Error("another chain is affected")
	}
	if _, known := j.NextAuthorization(common.Address{1}, 8453); known {
		t.Error("another EOA is affected")
	}
	*clock = clock.Add(30 * 24 * time.Hour)
	if list = j.Outstanding(*clock); len(list) != 1 || list[0].Role != journal.RoleDelegation {
		t.Fatalf("after a month: %+v", list)
	}
	if _, known := j.NextAuthorization(account, 8453); known {
		t.Error("a nonce that the service chose for an operation that never ran is believed for ever")
	}
	// An operation with the next authorization runs: the account nonce is past both.
	again := delegated(4, 8)
	again.ValidUntil = clock.Unix() + 600
	run(t, j, append(signedRun(again), step{journal.Quoted, journal.Entry{QuoteID: "0x5"}},
		step{journal.QuoteSigned, journal.Entry{QuoteID: "0x5"}},
		step{journal.Executing, journal.Entry{QuoteID: "0x5"}}, end("0x5", "COMPLETED", again.OpHash)))
	if list = j.Outstanding(*clock); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	if next, known := j.NextAuthorization(account, 8453); !known || next != 9 {
		t.Errorf("next %d %v", next, known)
	}
}

func TestD6_OneAuthorizationOfTwoOperationsIsListedOnce(t *testing.T) {
	j := open(t, dirOf(t), options())
	first, second := delegated(4, 0), delegated(4, 0)
	second.Lane, second.Role, second.OpHash, second.Nonce = 1, "funding", "0xother", signature("", 1, 4, 0).Nonce
	run(t, j, signedRun(first, second))
	if list := j.Outstanding(now()); len(list) != 3 {
		t.Fatalf("%+v", list)
	}
}

func TestJ4_ASolanaMessageEndsWithItsBlockHash(t *testing.T) {
	j, clock := clocked(t)
	run(t, j, swap("0xAB", message("m1", "0xAB"))[:3])
	list := j.Outstanding(*clock)
	if len(list) != 1 || !strings.Contains(list[0].Void, "block hash") || list[0].BlockHash != "B1" {
		t.Fatalf("%+v", list)
	}
	*clock = clock.Add(149 * time.Second)
	if len(j.Outstanding(*clock)) != 1 {
		t.Error("ended within the margin")
	}
	*clock = clock.Add(2 * time.Second)
	if len(j.Outstanding(*clock)) != 0 {
		t.Error("open after its block hash")
	}
	if len(j.LiveNonces(common.HexToAddress(payer), 0, 0, now())) != 0 {
		t.Error("a message has a nonce")
	}
}

func TestJ4_AnApprovalHasNoEndButItsNonce(t *testing.T) {
	j, clock := clocked(t)
	s := signature("prepared", 0, 4, verify.NoEnd)
	s.Kind = api.AccountRoleBased
	run(t, j, signedRun(s))
	*clock = clock.Add(365 * 24 * time.Hour)
	list := j.Outstanding(*clock)
	if len(list) != 1 || !strings.Contains(list[0].Void, "never expires") ||
		!strings.Contains(list[0].Void, s.Nonce) {
		t.Fatalf("%+v", list)
	}
	id := run(t, j, signedRun()[:1])
	later := signature("prepared", 0, 5, verify.NoEnd)
	if err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{later}}); !errors.Is(err,
		journal.ErrConflict) {
		t.Errorf("two approvals stand beside each other: %v", err)
	}
	if err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{s}}); err != nil {
		t.Errorf("the same place cannot be signed for again: %v", err)
	}
}

func TestU3_ASecondMessageOfASolanaAccountWaitsForTheFirst(t *testing.T) {
	for name, c := range map[string]struct {
		steps   int // how far the first operation got
		finish  string
		after   time.Duration
		sender  string
		refused bool
	}{
		"sent":             {3, "", 0, payer, true},
		"accepted":         {4, "", 0, payer, true},
		"failed":           {4, "FAILED", 0, payer, true}, // the service's word; the message can still be taken in
		"only signed":      {2, "", 0, payer, false},
		"completed":        {4, "COMPLETED", 0, payer, false},
		"over":             {3, "", 151 * time.Second, payer, false},
		"of another payer": {3, "", 0, "6tymeastaHjs9APZuVep6Vq61LPn3wMuDyC7zgKFWpq4", false},
	} {
		t.Run(name, func(t *testing.T) {
			j, clock := clocked(t)
			id := run(t, j, swap("0xAB", message("m1", "0xAB"))[:c.steps])
			switch c.finish {
			case "COMPLETED":
				must(t, j.Append(id, journal.Done, end("0xAB", c.finish, "0xm1").entry))
			case "FAILED":
				must(t, j.Append(id, journal.Done, end("0xAB", c.finish).entry))
			}
			*clock = clock.Add(c.after)
			other := run(t, j, swap("0xAC")[:1])
			s := message("m2", "0xAC")
			s.Sender, s.ValidUntil = c.sender, clock.Unix()+90
			err := j.Append(other, journal.QuoteSigned,
				journal.Entry{QuoteID: "0xAC", Signatures: []journal.Signature{s}})
			if errors.Is(err, journal.ErrConflict) != c.refused || (err != nil) != c.refused {
				t.Fatal(err)
			}
		})
	}
	// Two messages of one quote are one payment, and the same message may be signed again.
	j := open(t, dirOf(t), options())
	id := run(t, j, swap("0xAB", message("m1", "0xAB"), message("m2", "0xAB"))[:3])
	must(t, j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0xAB"}))
	must(t, j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0xAB",
		Signatures: []journal.Signature{message("m1", "0xAB")}}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// total is what counts as spent of an asset.
func total(spent []verify.Spend, asset string) string {
	sum := new(big.Int)
	for _, s := range spent {
		if s.Asset.String() == asset {
			sum.Add(sum, s.Amount)
		}
	}
	return sum.String()
}

// What two accounts of a wallet spend is counted for each; a cap counts both.
func TestD17_WhatIsSpentIsKnownByAccount(t *testing.T) {
	j, _ := clocked(t)
	run(t, j, pays("0x1", "100", 4))
	steps, other := pays("0x2", "7", 9), common.HexToAddress("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0").Hex()
	for _, s := range steps {
		for i := range s.entry.Signatures {
			s.entry.Signatures[i].Sender = other
		}
	}
	run(t, j, steps)
	by := map[string][]verify.Spend{}
	for _, s := range j.Spent(now()) {
		by[s.Account] = append(by[s.Account], s)
	}
	if total(by[other], usdc) != "12" || total(by[account.Hex()], usdc) != "105" ||
		total(j.Spent(now()), usdc) != "117" || len(by) != 2 {
		t.Errorf("%+v", by)
	}
}

// paying is a signature of which an amount counts.
func paying(role string, lane uint16, seq uint64, amount, quote string) journal.Signature {
	s := signature(role, lane, seq, now().Unix()+600)
	s.OpHash += quote
	s.Kind, s.QuoteID, s.Counts = api.AccountKernelV31, quote, []journal.Spend{{Asset: usdc, Amount: amount}}
	return s
}

// pays is a run of a call that spends 5 and is paid for with the given amount.
func pays(quote, amount string, seq uint64) []step {
	return []step{
		{journal.Prepared, journal.Entry{}}, {journal.Signed,
			journal.Entry{Signatures: []journal.Signature{paying("prepared", 0, seq, "5", "")}}},
		{journal.Quoted, journal.Entry{QuoteID: quote}},
		{journal.QuoteSigned, journal.Entry{QuoteID: quote,
			Signatures: []journal.Signature{paying("funding", 1, seq, amount, quote)}}},
		{journal.Executing, journal.Entry{QuoteID: quote}},
	}
}

func TestY5_EverythingSignedAndSentCountsWhateverTheServiceSays(t *testing.T) {
	twice := func(steps ...step) []step { return append(pays("0x1", "100", 4), steps...) }
	for name, c := range map[string]struct {
		steps                     []step
		want, prepared, preparing string
	}{
		"nothing signed": {pays("0x1", "100", 4)[:1], "0", "0", "0"},
		"prepared":       {pays("0x1", "100", 4)[:2], "5", "5", "0"},
		"quoted":         {pays("0x1", "100", 4)[:3], "5", "5", "0"},
		"quote signed":   {pays("0x1", "100", 4)[:4], "105", "5", "0"},
		"sent":           {twice(), "105", "105", "100"},
		"completed":      {twice(end("0x1", "COMPLETED", "0xprepared4", "0xfunding40x1")), "105", "105", "100"},
		"refunded":       {twice(end("0x1", "REFUNDED", "0xfunding40x1")), "105", "105", "100"},
		"failed":         {twice(end("0x1", "FAILED")), "105", "105", "100"},
		"not executed":   {twice(step{journal.NotExecuted, journal.Entry{}}), "105", "105", "100"},
		"abandoned": {append(pays("0x1", "100", 4)[:4], step{journal.Abandoned, journal.Entry{}}), "105", "5",
			"0"},
		"quoted again":   {append(pays("0x1", "100", 4)[:4], pays("0x2", "40", 4)[2]), "105", "5", "0"},
		"the last quote": {append(pays("0x1", "100", 4)[:4], pays("0x2", "40", 4)[2:4]...), "45", "5", "0"},
		"prepared again": {append(pays("0x1", "100", 4)[:2], step{journal.Prepared, journal.Entry{}},
			step{journal.Signed, journal.Entry{Signatures: []journal.Signature{again("9")}}}), "9", "9", "0"},
		"refused, resent": {twice(pays("0x1", "100", 4)[3], pays("0x1", "100", 4)[4]), "105", "105", "100"},
		// One nonce: only one of the two runs, and the larger one may.
		"refused, less in the same place": {twice(pays("0x1", "100", 4)[3], pays("0x2", "40", 4)[2],
			pays("0x2", "40", 4)[3], pays("0x2", "40", 4)[4]), "105", "105", "100"},
		"refused, more in the same place": {twice(pays("0x1", "100", 4)[3], pays("0x2", "140", 4)[2],
			pays("0x2", "140", 4)[3]), "145", "105", "100"},
	} {
		t.Run(name, func(t *testing.T) {
			j := open(t, dirOf(t), options())
			id := run(t, j, c.steps)
			if got := total(j.Spent(now()), usdc); got != c.want {
				t.Errorf("%s spent, want %s", got, c.want)
			}
			if n := len(j.Spent(now().Add(time.Second))); n != 0 {
				t.Errorf("%d amounts before their time", n)
			}
			if got := total(j.SpentBeside(id, false, now()), usdc); got != c.preparing {
				t.Errorf("%s spent beside what is prepared again, want %s", got, c.preparing)
			}
			if got := total(j.SpentBeside(id, true, now()), usdc); got != c.prepared {
				t.Errorf("%s spent beside what is quoted again, want %s", got, c.prepared)
			}
			if got := total(j.SpentBeside("another", false, now()), usdc); got != c.want {
				t.Errorf("%s spent beside another operation, want %s", got, c.want)
			}
		})
	}
}

func TestY5_EverySentPaymentOfAnOperationCountsNotOnlyTheLast(t *testing.T) {
	j, clock := clocked(t)
	id := run(t, j, pays("0x1", "100", 4))
	must(t, j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0x1"})) // the service refused
	// both windows are over; whether the first payment ran only the service says
	*clock = clock.Add(700 * time.Second)
	elsewhere := paying("funding", 1, 9, "40", "0x2")
	elsewhere.Chain, elsewhere.ChainID, elsewhere.ValidUntil = "eip155:10", 10, clock.Unix()+600
	must(t, j.Append(id, journal.Quoted, journal.Entry{QuoteID: "0x2"}))
	must(t, j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0x2",
		Signatures: []journal.Signature{elsewhere}}))
	if all, beside := total(j.Spent(now()), usdc), total(j.SpentBeside(id, true, now()), usdc); all != "145" ||
		beside != "105" {
		t.Errorf("%s spent, %s beside the next quote", all, beside)
	}
	if got := total(j.SpentBeside(id, false, now()), usdc); got != "105" {
		t.Errorf("%s spent beside what is prepared again: the first prepared call ended and the next may have "+
			"another nonce", got)
	}
	if got := total(j.Spent(now().Add(24*time.Hour)), usdc); got != "0" {
		t.Errorf("%s spent on the next day", got)
	}
}

// again is a later answer to the same call, with the same nonce.
func again(amount string) journal.Signature {
	s := paying("prepared", 0, 4, amount, "")
	s.OpHash = "0xagain"
	return s
}

func TestY5_SpentAddsUpByAssetAndTime(t *testing.T) {
	j, clock := clocked(t)
	run(t, j, append(pays("0x1", "100", 4), end("0x1", "COMPLETED", "0xprepared4", "0xfunding40x1")))
	*clock = clock.Add(time.Hour)
	run(t, j, append(swap("0x2", message("m1", "0x2")), end("0x2", "COMPLETED", "0xm1")))
	later := pays("0x3", "1", 5)
	run(t, j, append(later, end("0x3", "COMPLETED", "0xprepared5", "0xfunding50x3")))
	all := j.Spent(now())
	if len(all) != 2 || total(all, usdc) != "111" || total(all, sol) != "1000" {
		t.Errorf("%v", all)
	}
	if part := j.Spent(*clock); total(part, usdc) != "6" || total(part, sol) != "1000" {
		t.Errorf("%v", part)
	}
	all[0].Amount.SetInt64(0)
	if total(j.Spent(now()), usdc) != "111" {
		t.Error("the sums belong to the caller")
	}
}

func TestSpentLeavesOutWhatLostItsPlaceToAnotherOperation(t *testing.T) {
	j := open(t, dirOf(t), options())
	run(t, j, append(pays("0x1", "100", 4)[:4], step{journal.Abandoned, journal.Entry{}}))
	second := pays("0x2", "30", 4)
	second[1].entry.Signatures[0].OpHash = "0xwinner"
	run(t, j, append(second, end("0x2", "COMPLETED", "0xwinner", "0xfunding40x2")))
	if got := total(j.Spent(now()), usdc); got != "35" {
		t.Errorf("%s spent", got)
	}
}

func TestSpentIsUpToDateWhenAnOperationIsSignedAgain(t *testing.T) {
	j, clock := clocked(t)
	id := run(t, j, pays("0x1", "100", 4)[:4])
	*clock = clock.Add(time.Minute)
	if got := total(j.Spent(*clock), usdc); got != "0" {
		t.Fatal(got)
	}
	must(t, j.Append(id, journal.QuoteSigned, pays("0x1", "100", 4)[3].entry))
	if got := total(j.Spent(*clock), usdc); got != "100" {
		t.Errorf("%s spent: the same bytes, signed just now", got)
	}
}

func TestRecipientsAreThoseOfCompletedOperationsOnce(t *testing.T) {
	j := open(t, dirOf(t), options())
	low := "0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0"
	for i, c := range []struct {
		outcome string
		to      []string
	}{{"COMPLETED", []string{low, payer}}, {"COMPLETED", []string{strings.ToUpper(low[2:])}},
		{"REFUNDED", []string{"0x01"}}, {"FAILED", []string{"0x02"}}} {
		quote := "0x" + strings.Repeat("1", i+1)
		steps := swap(quote, message("m"+quote, quote))
		steps[1].entry.Recipients = c.to
		if i == 1 {
			steps[1].entry.Recipients = []string{"0x" + c.to[0]}
		}
		if i == 3 { // the third was refunded and its message is used
			run(t, j, append(steps, end(quote, c.outcome)))
			continue
		}
		run(t, j, append(steps, end(quote, c.outcome, "0xm"+quote)))
	}
	if got := strings.Join(j.Recipients(), " "); got != "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 "+payer {
		t.Errorf("%s", got)
	}
}
