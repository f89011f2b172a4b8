package chainview

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api/op/solmsg"
)

// Whatever a node answers about the past: it is refused, or the list is in order and without doubles, and a transaction
// has moves of other than zero and a fee, or says why not.
func FuzzPast(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	me := solmsg.Key(key.Public().(ed25519.PublicKey))
	m, err := solmsg.Compose(me, solmsg.Key{9}, solmsg.SystemTransfer(me, solmsg.Key{8}, 5), solmsg.Memo("hello"))
	if err != nil {
		f.Fatal(err)
	}
	sig := [64]byte(ed25519.Sign(key, m.Bytes()))
	name := solmsg.FormatSignature(sig)
	raw := base64.StdEncoding.EncodeToString(append(append([]byte{1}, sig[:]...), m.Bytes()...))
	f.Add(fmt.Sprintf(`[{"signature":%q,"slot":7,"blockTime":9},{"signature":%q,"slot":6}]`, name, name),
		fmt.Sprintf(`{"slot":7,"transaction":[%q,"base64"],"meta":{"err":null,"fee":5000,"preBalances":[9000,0,0,0],
"postBalances":[3995,5,0,0],"postTokenBalances":[{"accountIndex":1,"mint":%q,"owner":%q,
"uiTokenAmount":{"amount":"4"}}]}}`,
			raw, me, me))
	f.Add(`[]`, fmt.Sprintf(`{"slot":7,"transaction":[%q,"base64"],"meta":null}`, raw))
	f.Add(`[{}]`, `{"transaction":["AA==","base64"]}`)
	f.Fuzz(func(t *testing.T, list, transaction string) {
		var entries []listedEntry
		if json.Unmarshal([]byte(list), &entries) == nil && listedWell(entries, "") {
			for i, e := range entries {
				if i > 0 && (e.Slot > entries[i-1].Slot || e.Signature == entries[i-1].Signature) {
					t.Fatalf("%+v", entries)
				}
			}
		}
		var w wireTransaction
		x := Transaction{Signature: name, Slot: 7}
		if json.Unmarshal([]byte(transaction), &w) != nil || w.read(Whose{Account: me}, &x) != nil {
			return
		}
		if x.Unknown != "" {
			if x.Moves != nil || x.Fee != nil {
				t.Fatalf("unknown, and yet %+v", x)
			}
			return
		}
		if x.Fee == nil || x.Fee.Sign() < 0 || x.Quote != "hello" {
			t.Fatalf("%+v", x)
		}
		for _, move := range x.Moves {
			if move.Amount.Sign() == 0 {
				t.Fatalf("%+v", x)
			}
		}
	})
}
