package solrpc_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/jsonrpc"
)

// Whatever parameters a stranger sends to any method: no panic, an answer that is JSON or an error with a code, and the
// sums of the ledger stay.
func FuzzParameters(f *testing.F) {
	w := newWorld(f)
	wire := w.wire(f, w.alice, solmsg.SystemTransfer(w.alice.Key(), w.bob.Key(), 1e9))
	alice := w.alice.Key().String()
	for _, params := range []string{
		`[]`, `["` + alice + `",{"encoding":"jsonParsed"}]`, `["` + wire + `",{"encoding":"base64"}]`,
		`["` + wire + `",{"encoding":"base64","skipPreflight":true,"accounts":{"addresses":["` + alice + `"]}}]`,
		`["` + wire + `",{"encoding":"base64","replaceRecentBlockhash":true,"innerInstructions":true}]`,
		`[["` + alice + `"],{"commitment":"finalized","minContextSlot":1}]`, `[{"mentions":["` + alice + `"]}]`,
		`["` + alice + `",{"programId":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"},{"encoding":"base64"}]`,
		`["` + alice + `",{"limit":3,"before":"` + solmsg.FormatSignature([64]byte{1}) + `"}]`,
		`[18446744073709551615]`,
		`["` + alice + `",{"encoding":"base64","dataSlice":{"offset":9,"length":18446744073709551615}}]`,
		`["` + alice + `",1000000000]`, `["` + solmsg.FormatSignature([64]byte{1}) + `","base58"]`,
	} {
		for i := range len(w.Methods) {
			f.Add(byte(i), params)
		}
	}
	names := slices.Sorted(maps.Keys(w.Methods))
	before, err := w.Sums()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which byte, text string) {
		var p jsonrpc.Params
		if json.Unmarshal([]byte(text), &p) != nil {
			return
		}
		method := names[int(which)%len(names)]
		v, err := w.Methods[method](t.Context(), p)
		var e *jsonrpc.Error
		switch {
		case errors.As(err, &e):
			v = e
		case err != nil:
			t.Fatalf("%s %s: a fault: %v", method, text, err)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatalf("%s %s: %v", method, text, err)
		}
		if sums, err := w.Sums(); err != nil || sums.Lamports != before.Lamports ||
			!maps.Equal(sums.Tokens, before.Tokens) {
			t.Fatalf("%s %s: %+v, %v", method, text, sums, err)
		}
	})
}
