package present_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/ui/present"

	"coffer/api/catalog"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// TestTheJournalsSignaturesAreReadWithTheCatalogue: a known asset gets its symbol and decimals, an unknown one keeps
// its base units, and nothing is invented.
func TestTheJournalsSignaturesAreReadWithTheCatalogue(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := present.Signatures(cat, []journal.Outstanding{
		{Op: "a", Signature: journal.Signature{ValidUntil: time.Unix(2e9, 0).Unix(),
			Spend: []journal.Spend{{Asset: "eip155:8453/erc20:0x" + "833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
				Amount: "7"}}}},
		{Op: "b", Signature: journal.Signature{Spend: []journal.Spend{{Asset: "eip155:4242/slip44:60", Amount: "9"}}}},
	}, 0)
	if len(got) != 2 || got[0].Operation != "a" || !got[0].Until.Equal(time.Unix(2e9, 0)) || !got[1].Until.IsZero() {
		t.Fatalf("%+v", got)
	}
	known, unknown := got[0].Summary.Spend[0], got[1].Summary.Spend[0]
	if known.Symbol != "USDC" || known.Decimals != 6 || known.ChainName != "Base" ||
		known.Amount.Cmp(big.NewInt(7)) != 0 {
		t.Errorf("%+v", known)
	}
	if unknown.Symbol != "" || unknown.Decimals != -1 || unknown.ChainName != "" ||
		unknown.Amount.Cmp(big.NewInt(9)) != 0 {
		t.Errorf("%+v", unknown)
	}
}

// The journal's list is taken over whole: a signature without an end gets none here, and the journal says what ends it.
func TestJ4TheJournalSaysWhatEndsASignature(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const code = "0xd6cedde84be40893d153be9d467cd6ad37875b28"
	got := present.Signatures(c, []journal.Outstanding{
		{Op: "a", Void: "v", Signature: journal.Signature{Role: journal.RoleDelegation, Kind: api.AccountKernelV33,
			ValidUntil: time.Unix(2e9, 0).Unix(), Delegation: &journal.Delegation{Contract: code}}},
		{Op: "b", Void: "w", Signature: journal.Signature{Role: verify.RolePrepared, ValidUntil: verify.NoEnd,
			Delegation: &journal.Delegation{Contract: code}}},
		{Op: "c", Void: "x", Signature: journal.Signature{Role: verify.RoleFunding, BlockHash: "h",
			ValidUntil: time.Unix(2e9, 0).Unix()}},
	}, 0)
	if len(got) != 3 || got[0].Code != "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28" || !got[0].Until.IsZero() ||
		got[0].Void != "v" || got[0].Summary.Kind != api.AccountKernelV33 {
		t.Fatalf("%+v", got)
	}
	if !got[1].Until.IsZero() || got[1].Code != "" || got[2].Summary.BlockHash != "h" ||
		!got[2].Until.Equal(time.Unix(2e9, 0)) {
		t.Fatalf("%+v", got)
	}
}

func TestTheJournalSaysWhatCanBeVoided(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	endless := journal.Signature{Role: verify.RolePrepared, Kind: api.AccountRoleBased, OpHash: "0x77",
		ValidUntil: verify.NoEnd}
	gone := endless
	gone.VoidedAt = time.Unix(2e9, 0)
	ends := endless
	ends.ValidUntil = time.Unix(2e9, 0).Unix()
	got := present.Signatures(c, []journal.Outstanding{{Signature: endless}, {Signature: gone}, {Signature: ends}}, 0)
	if !got[0].Voidable || got[0].Hash != "0x77" || got[1].Voidable || !got[1].Voided.Equal(time.Unix(2e9, 0)) ||
		got[2].Voidable {
		t.Errorf("%+v", got)
	}
}

func TestD2_TheJournalSaysWhenASignatureCertainlyEnds(t *testing.T) {
	s := journal.Signature{ValidUntil: time.Unix(2e9, 0).Unix()}
	got := present.Signatures(nil, []journal.Outstanding{{Signature: s},
		{Signature: journal.Signature{ValidUntil: verify.NoEnd}}}, -5*time.Second)
	if end, _ := s.Ends(); !got[0].Ends.Equal(end.Add(5*time.Second)) || !got[1].Ends.IsZero() {
		t.Errorf("%+v", got)
	}
}

// TestL9_ANonceIsSaidOnce: what ends a signature refers to its nonce, whose digits are a fact of their own.
func TestL9_ANonceIsSaidOnce(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const nonce = "913479994650515257524606220465835134743662536739504622017003723935449088"
	sig := journal.Signature{Role: verify.RolePrepared, Chain: "eip155:8453", Nonce: nonce, ValidUntil: verify.NoEnd}
	for _, void := range []string{"It ends when another operation of this account uses nonce " + nonce + " on Base.",
		"Anyone who has it can still use it until nonce " + nonce + " on Base is used."} {
		said := 0
		for _, r := range present.Signatures(c, []journal.Outstanding{{Signature: sig, Void: void}}, 0)[0].Rows(c, "") {
			said += strings.Count(r.Text, nonce)
			if r.Label == "ends" && !strings.Contains(r.Text, "this ") {
				t.Errorf("%s", r.Text)
			}
		}
		if said != 1 {
			t.Errorf("%q: the nonce is said %d times", void, said)
		}
	}
	for n, want := range map[string]string{nonce: "72 digits, ending in 9088", "7": "7", "123456789012": "123456789012",
		"1234567890123": "13 digits, ending in 0123", "not a number at all": "not a number at all", "": ""} {
		if got := present.BriefDigits(n); got != want {
			t.Errorf("%q: %q", n, got)
		}
	}
}
