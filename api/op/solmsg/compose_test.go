package solmsg_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/op/solmsg"
)

func key(t testing.TB, s string) solmsg.Key {
	t.Helper()
	k, err := solmsg.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// builds turns the instructions of a vector into what Compose takes.
func builds(t testing.TB, c vector) []solmsg.Build {
	t.Helper()
	var out []solmsg.Build
	for _, ix := range c.Instructions {
		data, err := hex.DecodeString(ix.Data)
		if err != nil {
			t.Fatal(err)
		}
		b := solmsg.Build{Program: key(t, ix.ProgramID), Data: data}
		for _, k := range ix.Keys {
			b.Accounts = append(b.Accounts, solmsg.Meta{Key: key(t, k.Pubkey), Signer: k.IsSigner,
				Writable: k.IsWritable})
		}
		out = append(out, b)
	}
	return out
}

func TestComposeGivesTheBytesOfTheVectors(t *testing.T) {
	compared := 0
	for _, c := range load(t).Cases {
		if c.Kind != "v0" {
			continue
		}
		m, err := solmsg.Compose(key(t, c.FeePayer), key(t, c.RecentBlockhash), builds(t, c)...)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		compared++
		if m.Base64() != c.MessageBase64 {
			t.Errorf("%s:\n got %s\nwant %s", c.Name, m.Base64(), c.MessageBase64)
		}
	}
	if compared != 5 {
		t.Errorf("%d messages compared, expected 5", compared)
	}
}

func sameBuild(a, b solmsg.Build) bool {
	return a.Program == b.Program && slices.Equal(a.Accounts, b.Accounts) && bytes.Equal(a.Data, b.Data)
}

func TestInstructionEncodersGiveTheInstructionsOfTheVectors(t *testing.T) {
	for _, c := range load(t).Cases {
		if c.Kind != "v0" {
			continue
		}
		for i, want := range builds(t, c) {
			var got solmsg.Build
			accounts := want.Accounts
			switch c.Name + "/" + string(rune('0'+i)) {
			case "system-transfer-v0/0":
				got = solmsg.SystemTransfer(accounts[0].Key, accounts[1].Key, 1234567890)
			case "token-transfer-checked-v0/2":
				got = solmsg.CreateATAIdempotent(accounts[0].Key, accounts[2].Key, accounts[3].Key)
			case "token-transfer-checked-v0/3":
				got = solmsg.TokenTransferChecked(accounts[0].Key, accounts[1].Key, accounts[2].Key, accounts[3].Key,
					18446744073709551615, 6)
			case "token-transfer-checked-v0/4":
				got = solmsg.Memo("quote 0x01", accounts[0].Key)
			default:
				continue
			}
			if !sameBuild(got, want) {
				t.Errorf("%s, instruction %d:\n got %+v\nwant %+v", c.Name, i, got, want)
			}
		}
	}
}

func TestAFundingMessageListsSponsorAndUserFirst(t *testing.T) {
	sponsor, user, vault, mint, hash := solmsg.Key{9}, solmsg.Key{1}, solmsg.Key{2}, solmsg.Key{3}, solmsg.Key{4}
	memo := solmsg.Memo("0x" + strings.Repeat("ab", 32))
	for name, b := range map[string]solmsg.Build{
		"SOL": solmsg.SystemTransfer(user, vault, 5), "token": solmsg.TokenTransferChecked(solmsg.Key{5}, mint,
			solmsg.Key{6}, user, 5, 6),
	} {
		m, err := solmsg.Compose(sponsor, hash, b, memo)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Signers(), []solmsg.Key{sponsor, user}) ||
			!slices.Equal(m.Keys[:2], []solmsg.Key{sponsor, user}) {
			t.Errorf("%s: keys %v, signers %v", name, m.Keys, m.Signers())
		}
	}
}

func TestWireIsHexWithoutPrefixAndBase58(t *testing.T) {
	for _, c := range load(t).Cases {
		m, err := solmsg.ParseBase64(c.MessageBase64)
		if err != nil {
			t.Fatal(err)
		}
		for i, ix := range m.Wire() {
			if ix.Data != c.Instructions[i].Data || ix.ProgramID != c.Instructions[i].ProgramID ||
				len(ix.Keys) != len(c.Instructions[i].Keys) {
				t.Errorf("%s: %+v", c.Name, ix)
			}
			for j, k := range ix.Keys {
				a := m.Instructions[i].Accounts[j]
				if want := c.Instructions[i].Keys[j].Pubkey; !a.Lookup && k.Pubkey != want ||
					a.Lookup && k.Pubkey != "" {
					t.Errorf("%s: key %q, want %q", c.Name, k.Pubkey, want)
				}
				if k.IsSigner != a.Signer || k.IsWritable != a.Writable {
					t.Errorf("%s: %+v has other rights than %+v", c.Name, k, a)
				}
			}
		}
	}
	memo, err := solmsg.Compose(solmsg.Key{1}, solmsg.Key{2}, solmsg.Memo("hi"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(memo.Wire())
	if want := `[{"keys":[],"programId":"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr","data":"6869"}]`; err != nil ||
		string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestSignatureTextIsBase58AndHasOneSpelling(t *testing.T) {
	for _, c := range load(t).Cases {
		sig, err := solmsg.ParseSignature(c.SignatureBase58)
		if err != nil || solmsg.FormatSignature(sig) != c.SignatureBase58 {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, bad := range []string{"", c.SignatureBase58[2:], "1" + c.SignatureBase58, " " + c.SignatureBase58,
			hex.EncodeToString(sig[:]), strings.Repeat("z", 88)} {
			if _, err := solmsg.ParseSignature(bad); err == nil {
				t.Errorf("%q is taken for a signature", bad)
			}
		}
	}
}

func TestComposeRefusesWhatDoesNotFitAMessage(t *testing.T) {
	payer, hash := solmsg.Key{1}, solmsg.Key{2}
	many := solmsg.Build{Program: solmsg.MemoProgram()}
	for i := range 300 {
		many.Accounts = append(many.Accounts, solmsg.Meta{Key: solmsg.Key{3, byte(i), byte(i >> 8)}})
	}
	for name, b := range map[string]solmsg.Build{
		"too long": solmsg.Memo(strings.Repeat("x", solmsg.MaxSize)), "huge": solmsg.Memo(strings.Repeat("x", 1<<20)),
		"too many accounts": many, "the fee payer as program": {Program: payer},
	} {
		_, err := solmsg.Compose(payer, hash, b)
		wantCode(t, name, err, "S1")
	}
	if _, err := solmsg.Compose(payer, hash); err != nil {
		t.Errorf("a message without instructions: %v", err)
	}
}

func TestWhatComposeBuildsIsParsedAsTheSameInstructions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) solmsg.Key {
			return solmsg.Key{byte(rapid.IntRange(1, 255).Draw(t, "k")), rapid.Byte().Draw(t, "l")}
		}), 2, 14, rapid.ID).Draw(t, "pool")
		payer, hash := pool[0], solmsg.Key{9, 9}
		ixs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) solmsg.Build {
			b := solmsg.Build{Program: rapid.SampledFrom(pool[1:]).Draw(t, "program"),
				Data: rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "data")}
			for range rapid.IntRange(0, 6).Draw(t, "accounts") {
				b.Accounts = append(b.Accounts, solmsg.Meta{
					Key: rapid.SampledFrom(pool).Draw(t, "account"), Signer: rapid.Bool().Draw(t, "signer"),
					Writable: rapid.Bool().Draw(t, "writable"),
				})
			}
			return b
		}), 0, 6).Draw(t, "instructions")
		m, err := solmsg.Compose(payer, hash, ixs...)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		again, err := solmsg.ParseBase64(m.Base64())
		if err != nil || !bytes.Equal(again.Bytes(), m.Bytes()) {
			t.Fatalf("parsed again: %v", err)
		}
		if again.Version != solmsg.V0 || again.FeePayer() != payer || again.Blockhash != hash ||
			len(again.Lookups) != 0 || len(again.Instructions) != len(ixs) {
			t.Fatalf("%+v", again)
		}
		rights := map[solmsg.Key]solmsg.Meta{payer: {Key: payer, Signer: true, Writable: true}}
		for _, ix := range ixs {
			for _, a := range ix.Accounts {
				r := rights[a.Key]
				rights[a.Key] = solmsg.Meta{Key: a.Key, Signer: r.Signer || a.Signer, Writable: r.Writable ||
					a.Writable}
			}
		}
		for i, ix := range again.Instructions {
			if ix.Program != ixs[i].Program || !bytes.Equal(ix.Data, ixs[i].Data) ||
				len(ix.Accounts) != len(ixs[i].Accounts) {
				t.Fatalf("instruction %d is %+v", i, ix)
			}
			for j, a := range ix.Accounts {
				if want := rights[ixs[i].Accounts[j].Key]; (solmsg.Meta{Key: a.Key, Signer: a.Signer,
					Writable: a.Writable}) != want {
					t.Fatalf("instruction %d account %d is %+v, want %+v", i, j, a, want)
				}
			}
		}
	})
}
