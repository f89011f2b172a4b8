package solmsg_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/memo"

	"coffer/api/op/solmsg"
)

// The library's own program decoders are wrong in these two cases, which is why the
// product decodes them itself. Should a new version be right, this test says so.
func TestATAAndMemoAreDecodedByUsBecauseTheLibraryIsWrong(t *testing.T) {
	for want, data := range map[solmsg.ATAInstruction][][]byte{
		solmsg.ATACreate: {nil, {0}}, solmsg.ATACreateIdempotent: {{1}}, solmsg.ATARecoverNested: {{2}},
	} {
		for _, d := range data {
			if got, ok := solmsg.DecodeATA(d); !ok || got != want {
				t.Errorf("%x: %v %v", d, got, ok)
			}
		}
	}
	for _, d := range [][]byte{{3}, {0, 0}, {1, 0}} {
		if got, ok := solmsg.DecodeATA(d); ok {
			t.Errorf("%x was read as %v", d, got)
		}
	}
	accounts := make([]*solana.AccountMeta, 6)
	for i := range accounts {
		accounts[i] = solana.Meta(solana.PublicKey{byte(i)})
	}
	if ix, err := ata.DecodeInstruction(accounts, []byte{1}); err != nil {
		t.Errorf("the library refuses CreateIdempotent now: %v", err)
	} else if _, isCreate := ix.Impl.(*ata.Create); !isCreate {
		t.Errorf("the library reads CreateIdempotent as %T now", ix.Impl)
	}
	text := "0x" + strings.Repeat("ab", 32)
	if got, ok := solmsg.DecodeMemo([]byte(text)); !ok || got != text {
		t.Errorf("memo %q %v", got, ok)
	}
	if _, ok := solmsg.DecodeMemo([]byte{0xff}); ok {
		t.Error("a memo that is not UTF-8 was accepted")
	}
	// The library takes the first character for a length: some memos fail, others lose
	// text.
	for _, s := range []string{text, "~short"} {
		ix, err := memo.DecodeInstruction(accounts[:1], []byte(s))
		if err != nil {
			continue
		}
		if create, ok := ix.Impl.(*memo.Create); !ok || string(create.Message) == s {
			t.Errorf("the library reads the memo %q now", s)
		}
	}
}

func TestInstructionsOfTheVectorsDecode(t *testing.T) {
	seen := map[string]int{}
	for _, c := range load(t).Cases {
		m, err := solmsg.ParseBase64(c.MessageBase64)
		if err != nil {
			t.Fatal(err)
		}
		for _, ix := range m.Instructions {
			seen[describe(ix)]++
		}
	}
	want := map[string]int{
		"transfer 1234567890": 3, "token 42": 3, "checked 18446744073709551615/6": 3, "limit 200000": 3,
		"price 1000": 3,
		"create":     3, "create idempotent": 3, "memo quote 0x01": 3, "tag 13": 3, "tag 5": 3, "tag 17": 3, "tag 9": 3,
	}
	for k, n := range want {
		if seen[k] != n {
			t.Errorf("%s: %d times, want %d (all: %v)", k, seen[k], n, seen)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%v", seen)
	}
	for _, bad := range [][]byte{nil, {2}, {3, 0, 0, 0}, make([]byte, 9), make([]byte, 12), make([]byte, 10)} {
		_, a := solmsg.DecodeSystemTransfer(bad)
		_, b := solmsg.DecodeTokenTransfer(bad)
		_, _, d := solmsg.DecodeTokenTransferChecked(bad)
		_, e := solmsg.DecodeComputeUnitLimit(bad)
		_, g := solmsg.DecodeComputeUnitPrice(bad)
		if a || b || d || e || g {
			t.Errorf("%x was decoded", bad)
		}
	}
}

// describe names an instruction with the decoders of this package.
func describe(ix solmsg.Instruction) string {
	switch ix.Program {
	case solmsg.SystemProgram():
		if n, ok := solmsg.DecodeSystemTransfer(ix.Data); ok {
			return fmt.Sprint("transfer ", n)
		}
	case solmsg.TokenProgram():
		if n, ok := solmsg.DecodeTokenTransfer(ix.Data); ok {
			return fmt.Sprint("token ", n)
		}
		if n, d, ok := solmsg.DecodeTokenTransferChecked(ix.Data); ok {
			return fmt.Sprint("checked ", n, "/", d)
		}
		if tag, ok := solmsg.TokenTag(ix.Data); ok {
			return fmt.Sprint("tag ", tag)
		}
	case solmsg.ComputeBudgetProgram():
		if n, ok := solmsg.DecodeComputeUnitLimit(ix.Data); ok {
			return fmt.Sprint("limit ", n)
		}
		if n, ok := solmsg.DecodeComputeUnitPrice(ix.Data); ok {
			return fmt.Sprint("price ", n)
		}
	case solmsg.ATAProgram():
		switch kind, ok := solmsg.DecodeATA(ix.Data); {
		case ok && kind == solmsg.ATACreate:
			return "create"
		case ok && kind == solmsg.ATACreateIdempotent:
			return "create idempotent"
		}
	case solmsg.MemoProgram():
		if s, ok := solmsg.DecodeMemo(ix.Data); ok {
			return "memo " + s
		}
	}
	return "unknown"
}

func TestOnlyWalletsAreOnTheCurve(t *testing.T) {
	wallet := solmsg.Key(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey))
	at, err := solmsg.AssociatedTokenAccount(wallet, solmsg.Key{1}, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	if !wallet.OnCurve() || at.OnCurve() || (solmsg.Key{2}).OnCurve() {
		t.Errorf("wallet %t, its token account %t, 2 %t", wallet.OnCurve(), at.OnCurve(), (solmsg.Key{2}).OnCurve())
	}
}
