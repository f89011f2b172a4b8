package intent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/wallet/intent"
)

// FuzzParse: what Parse accepts is valid under the schema and comes back with the same hash.
func FuzzParse(f *testing.F) {
	for _, d := range []intent.Draft{draft(), withAll(), v1(draft()), swap(), v1(swap()), transfer()} {
		b, err := json.Marshal(freeze(f, d))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	r, schema := rules(f), compiled(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		i, err := intent.Parse(raw, r)
		if err != nil {
			return
		}
		if err := validate(schema, raw); err != nil {
			t.Fatalf("accepted, but not valid under the schema: %v", err)
		}
		again, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		j, err := intent.Parse(again, r)
		if err != nil || j.Hash() != i.Hash() {
			t.Fatalf("%v", err)
		}
		if call := i.Kind() == intent.KindCall; call == (i.PrepareBody() == nil) || call != (i.QuoteBody() == nil) {
			t.Fatal("not exactly one body")
		}
	})
}

// FuzzParseDraft: what ParseDraft accepts is written and read again without a change, and Freeze takes or refuses it
// with reasons.
func FuzzParseDraft(f *testing.F) {
	f.Add([]byte(`{"version":1,"targetChain":"eip155:8453","calls":[{"to":"` + to + `"}]}`))
	f.Add([]byte(`{"version":1,"calls":[],"receive":{"asset":"ob:usdc","account":"eip155:1:x","minimum":"0"}}`))
	r := rules(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := intent.ParseDraft(raw)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\x1b') {
				t.Fatal("an escape sequence reached an error")
			}
			return
		}
		first, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := intent.ParseDraft(first)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(again); err != nil || string(second) != string(first) {
			t.Fatalf("%s, %v", second, err)
		}
		full := d.Fill(draft().Network, draft().Accounts)
		if i, err := intent.Freeze(full, r); err == nil && i.IsZero() {
			t.Fatal("an empty intent")
		}
	})
}

// FuzzFromSafe: what FromSafe accepts has well-formed calls and nothing else, and goes out and comes back as the same
// calls.
func FuzzFromSafe(f *testing.F) {
	for _, name := range []string{"transfer-1.16.1", "approve-1.18.2", "mixed-1.4.0", "types"} {
		f.Add([]byte(batch(f, name)))
	}
	f.Add([]byte(method(`{"name":"x","type":"tuple","components":[{"name":"a","type":"string"}]}`, `"x":{"a":"b"}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := intent.FromSafe(raw)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\x1b') {
				t.Fatal("an escape sequence reached an error")
			}
			return
		}
		for _, c := range d.Calls {
			if caip.CheckEIP55(c.To) != nil || c.Data != "" && !strings.HasPrefix(c.Data, "0x") {
				t.Fatalf("%+v", c)
			}
		}
		file, err := intent.ToSafe(d, time.Unix(1_760_000_000, 0))
		if err != nil {
			t.Fatal(err)
		}
		again, err := intent.FromSafe(file)
		if err != nil || again.TargetChain != d.TargetChain || len(again.Calls) != len(d.Calls) {
			t.Fatalf("%v: %s", err, file)
		}
		for i, c := range again.Calls {
			if c.Function == "" {
				c.Function = d.Calls[i].Function // the data alone was written
			}
			if c != d.Calls[i] {
				t.Fatalf("%+v became %+v", d.Calls[i], c)
			}
		}
	})
}
