package solnode

import (
	"encoding/json"
	"errors"
	"testing"

	"coffer/api/op/solmsg"
)

// Whatever a node answers, it is read as what was asked for or refused.
func FuzzAccounts(f *testing.F) {
	owner := solmsg.TokenProgram().String()
	f.Add(`{"value":[{"lamports":5,"owner":"`+owner+`","data":["AAA=","base64"],"executable":true},null]}`, 2)
	f.Add(`{"value":[{"lamports":18446744073709551615,"owner":"1","data":["!","base64"]}]}`, 1)
	f.Add(`{"value":[{"lamports":1,"owner":"`+owner+`","data":["","base58"]}]}`, 1)
	f.Add(`{"value":[{"lamports":1,"owner":"`+owner+`","data":{"parsed":1}}]}`, 1)
	f.Fuzz(func(t *testing.T, answer string, n int) {
		var got wireAccounts
		if json.Unmarshal([]byte(answer), &got) != nil {
			return
		}
		all, err := got.read(n)
		if err != nil {
			if !errors.Is(err, errForm) || all != nil {
				t.Fatalf("%v, %v", all, err)
			}
			return
		}
		if len(all) != n {
			t.Fatalf("%d accounts for %d keys", len(all), n)
		}
		for i, a := range all {
			if got.Value[i] == nil && (a.Lamports != 0 || a.Data != nil || a.Executable) {
				t.Fatalf("no account is read as %+v", a)
			}
			if w := got.Value[i]; w != nil && (a.Lamports != w.Lamports || a.Owner.String() != w.Owner) {
				t.Fatalf("%+v is read as %+v", w, a)
			}
		}
	})
}
