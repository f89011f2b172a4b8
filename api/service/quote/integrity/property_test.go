package integrity_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/service/quote/integrity"
)

// kind is one kind of signed document: how its digest is made, an example, and the places that the client may fill.
type kind struct {
	name   string
	digest func(*api.Document) (common.Hash, error)
	body   string
	free   []string
}

const (
	evmOperation = `{"userOp":{"sender":"0xaa","nonce":"91347999465051525752460622046583513474","callData":"0xe9ae",` +
		`"signature":"0x"},
		"typedDataToSign":{"domain":{"name":"ECDSAValidator","chainId":8453},` +
		`"types":{"Approve":[{"name":"callDataAndNonceHash","type":"bytes32"}]}},
		"delegation":{"contractAddress":"0xcc","nonce":1000},"assetType":"eip155:8453/slip44:60","amount":"1"}`
	solanaOperation = `{"type":"solana","instructions":[{"keys":[{"pubkey":"A","isSigner":true,"isWritable":false}],` +
		`"programId":"P","data":""}],
		"dataToSign":"gAE=","assetType":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501","amount":"2"}`
	terms = `"originToken":{"aggregatedAssetId":"ob:usdc","amount":"3","assetType":["x"],"fiatValue":[]},` +
		`"destinationToken":{"symbol":"USD₮0","decimals":6},
		"expirationTimestamp":"1760000030","tamperProofSignature":"0x12"`
)

func kinds() []kind {
	role := `{"type":"role-based","sessionAddress":"0xA1","adminAddress":"0xA2","accountAddress":"0xA3"}`
	kernel := `{"type":"kernel-v3.1-ecdsa","signerAddress":"0xB1","accountAddress":"0xB2"}`
	solana := `{"type":"solana","accountAddress":"EB8Hi4LoqUVCGUPJ2y9MsHbEsJQJvmpQRUWrLpjEZxC6"}`
	prepared := []string{"/tamperProofSignature", "/chainOperation/userOp/signature",
		"/chainOperation/delegation/signature"}
	quoted := []string{
		"/tamperProofSignature", "/originChainsOperations/0/userOp/signature",
		"/originChainsOperations/0/delegation/signature",
		"/originChainsOperations/1/signature",
	}
	return []kind{
		{"prepared v3", integrity.Prepare,
			fmt.Sprintf(`{"accounts":[%s,%s],"chainOperation":%s,"tamperProofSignature":"0x"}`, kernel, solana,
				evmOperation), prepared},
		{"prepared v1", integrity.Prepare, fmt.Sprintf(`{"account":%s,"chainOperation":%s,"tamperProofSignature":"0x"}`,
			role, evmOperation), prepared},
		{"quote v3", integrity.Quote,
			fmt.Sprintf(`{"id":"0x01","accounts":[%s,%s],"originChainsOperations":[%s,%s],%s}`, kernel, solana,
				evmOperation, solanaOperation, terms), quoted},
		{"quote v1", integrity.Quote,
			fmt.Sprintf(`{"id":"0x01","account":%s,"originChainsOperations":[%s,%s],"destinationChainOperation":%s,%s}`,
				role, evmOperation, solanaOperation, evmOperation, terms),
			append([]string{"/destinationChainOperation/userOp/signature",
				"/destinationChainOperation/delegation/signature"}, quoted...)},
	}
}

// writer writes a parsed document as some client might: members in any order, blanks anywhere, numbers and strings in
// any spelling.
type writer struct {
	b    strings.Builder
	draw func(n int) int
}

func (w *writer) blank() { w.b.WriteString([]string{"", " ", "\n\t", ""}[w.draw(4)]) }

func (w *writer) value(v any) {
	w.blank()
	defer w.blank()
	switch v := v.(type) {
	case map[string]any:
		names := slices.Collect(maps.Keys(v))
		slices.Sort(names)
		for i := range names {
			j := i + w.draw(len(names)-i)
			names[i], names[j] = names[j], names[i]
		}
		w.b.WriteByte('{')
		for i, n := range names {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.text(n)
			w.blank()
			w.b.WriteByte(':')
			w.value(v[n])
		}
		w.b.WriteByte('}')
	case []any:
		w.b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.value(e)
		}
		w.b.WriteByte(']')
	case string:
		w.text(v)
	case float64:
		w.b.WriteString(w.number(v))
	default:
		fmt.Fprint(&w.b, v)
	}
}

// number spells a whole number in one of the ways that JSON has for it.
func (w *writer) number(v float64) string {
	s := strconv.FormatInt(int64(v), 10)
	switch w.draw(5) {
	case 0:
		return s + ".0"
	case 1:
		return s + "e0"
	case 2:
		return s + "0E-1"
	case 3:
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return s
}

func (w *writer) text(s string) {
	w.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '/' && w.draw(2) == 0:
			w.b.WriteString(`\/`)
		case r < 0x10000 && w.draw(4) == 0:
			fmt.Fprintf(&w.b, `\u%04x`, r)
		case r == '"' || r == '\\' || r < 0x20:
			fmt.Fprintf(&w.b, `\u%04X`, r)
		default:
			w.b.WriteRune(r)
		}
	}
	w.b.WriteByte('"')
}

func rewritten(body string, draw func(int) int) (string, error) {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return "", err
	}
	w := writer{draw: draw}
	w.value(v)
	return w.b.String(), nil
}

// TestAnyReserialisationPasses: key order, blanks, spellings of numbers and strings, as another JSON writer makes them,
// never change a digest.
func TestAnyReserialisationPasses(t *testing.T) {
	for _, k := range kinds() {
		want, err := k.digest(doc(t, k.body))
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			again, err := rewritten(k.body, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
			if err != nil {
				t.Fatal(err)
			}
			d, err := api.ParseDocument([]byte(again), api.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.digest(d); err != nil || got != want {
				t.Fatalf("%s: written as %s the digest is %s (%v)", k.name, again, got, err)
			}
		})
	}
}

// TestWhatAClientWritesAnewIsReadTheSame: numbers in another spelling are read all the same.
func TestWhatAClientWritesAnewIsReadTheSame(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		again, err := rewritten(kinds()[2].body, random.IntN)
		if err != nil {
			t.Fatal(err)
		}
		var want, got api.Quote
		if err := integrity.Decode(doc(t, kinds()[2].body), &want); err != nil {
			t.Fatal(err)
		}
		if err := integrity.Decode(doc(t, again), &got); err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		a, errA := json.Marshal(want)
		b, errB := json.Marshal(got)
		if errA != nil || errB != nil || string(a) != string(b) ||
			got.OriginChainsOperations[0].Delegation.Nonce != 1000 {
			t.Fatalf("%s\nwas read as\n%s", again, b)
		}
	}
	var v api.Quote
	if err := integrity.Decode(doc(t, `{"originChainsOperations":[{"delegation":{"nonce":1.5}}]}`), &v); err == nil {
		t.Error("a fraction was read as a nonce")
	}
}

// spoiled is a scalar with another value.
func spoiled(value []byte) string {
	switch value[0] {
	case '"':
		return `"x` + string(value[1:])
	case 't':
		return "false"
	case 'f':
		return "true"
	case '[', '{':
		return "null"
	}
	return string(value) + "1"
}

// TestAnyChangeOutsideTheSignaturesFails: a changed, removed or added value anywhere changes the digest, or there is
// none; in the places of signatures it does not.
func TestAnyChangeOutsideTheSignaturesFails(t *testing.T) {
	for _, k := range kinds() {
		d := doc(t, k.body)
		want, err := k.digest(d)
		if err != nil {
			t.Fatal(err)
		}
		differs := func(what, body string, same bool) {
			t.Helper()
			other, err := api.ParseDocument([]byte(body), api.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.digest(other); (err == nil && got == want) != same {
				t.Errorf("%s: %s: same digest %t", k.name, what, !same)
			}
		}
		d.Leaves(func(pointer string, value []byte) {
			free := slices.Contains(k.free, pointer)
			changed, err := d.Splice(api.Edit{Pointer: pointer, Value: []byte(spoiled(value))})
			if err != nil {
				t.Fatal(err)
			}
			differs("changed "+pointer, string(changed.Raw()), free)
			implied := k.name == "prepared v1" && pointer == "/account/type" // what v1 leaves out is role-based
			differs("removed "+pointer, remove(t, k.body, pointer), free || implied)
		})
		for _, pointer := range k.free {
			filled, err := d.Splice(api.Edit{Pointer: pointer, Value: []byte(`"0x77"`)})
			if err != nil {
				t.Fatal(err)
			}
			differs("filled "+pointer, string(filled.Raw()), true)
		}
		for _, at := range objects(d) {
			if strings.HasPrefix(k.name, "prepared") && !strings.HasPrefix(at, "/chainOperation") {
				continue // requests have other members beside, and accounts count as parsed values
			}
			added, err := d.Splice(api.Edit{Pointer: at + "/added", Value: []byte("0")})
			if err != nil {
				t.Fatal(err)
			}
			differs("added to "+at, string(added.Raw()), false)
		}
	}
}

// objects lists the places of all objects that hold anything.
func objects(d *api.Document) []string {
	seen := map[string]bool{"": true}
	d.Leaves(func(pointer string, _ []byte) {
		for i := len(pointer); i > 0; i = strings.LastIndexByte(pointer[:i], '/') {
			if _, is := d.Members(pointer[:i]); is {
				seen[pointer[:i]] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// remove takes a value out of a document.
func remove(t *testing.T, body, pointer string) string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(body), &root); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(pointer, "/")[1:]
	out, err := json.Marshal(without(root, parts))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func without(v any, parts []string) any {
	key := strings.ReplaceAll(strings.ReplaceAll(parts[0], "~1", "/"), "~0", "~")
	switch v := v.(type) {
	case map[string]any:
		if len(parts) == 1 {
			delete(v, key)
		} else {
			v[key] = without(v[key], parts[1:])
		}
	case []any:
		i, _ := strconv.Atoi(key)
		if len(parts) == 1 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = without(v[i], parts[1:])
	}
	return v
}

func TestAccountsOfAPreparedOperationChangeItsDigest(t *testing.T) {
	for _, k := range kinds()[:2] {
		d := doc(t, k.body)
		want, err := k.digest(d)
		if err != nil {
			t.Fatal(err)
		}
		account := "/account"
		if _, ok := d.At(account); !ok {
			account = "/accounts/0"
		}
		for _, name := range []string{"type", "sessionAddress", "adminAddress", "signerAddress", "accountAddress",
			"deploymentType"} {
			other, err := d.Splice(api.Edit{Pointer: account + "/" + name, Value: []byte(`"0x99"`)})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.digest(other); err == nil && got == want {
				t.Errorf("%s: %s was changed or added unnoticed", k.name, name)
			}
		}
	}
}

func TestTagsAreNotInterchangeable(t *testing.T) {
	// one body that both digests accept
	body := fmt.Sprintf(`{"accounts":[],"chainOperation":%s}`, evmOperation)
	a, errA := integrity.Prepare(doc(t, body))
	b, errB := integrity.Quote(doc(t, body))
	if errA != nil || errB != nil || a == b {
		t.Errorf("%s, %s: %v, %v", a, b, errA, errB)
	}
	for _, k := range kinds() {
		own, err := k.digest(doc(t, k.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range kinds() {
			if got, err := other.digest(doc(t, k.body)); err == nil && got == own &&
				strings.Fields(other.name)[0] != strings.Fields(k.name)[0] {
				t.Errorf("a %s passes as a %s", k.name, other.name)
			}
		}
	}
}

func TestOneDigestForAccountAndAccounts(t *testing.T) {
	operation := `"chainOperation":` + evmOperation
	const keys = `"sessionAddress":"0xA1","adminAddress":"0xA2","accountAddress":"0xA3"`
	want, err := integrity.Prepare(doc(t, `{"accounts":[{"type":"role-based",`+keys+`}],`+operation+`}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"account":{"type":"role-based",` + keys + `},` + operation + `}`,
		`{"account":{` + keys + `},` + operation + `}`,
		`{"account":{` + strings.ToLower(keys[:len(keys)-10]) + keys[len(keys)-10:] + `},` + operation + `}`,
		`{"account":{` + keys + `},"accounts":[{"type":"role-based",` + keys + `}],` + operation + `}`,
	} {
		body = strings.NewReplacer("sessionaddress", "sessionAddress", "adminaddress", "adminAddress", "accountaddress",
			"accountAddress").Replace(body)
		if got, err := integrity.Prepare(doc(t, body)); err != nil || got != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	for _, body := range []string{
		`{"account":{` + keys + `},"accounts":[],` + operation + `}`,
		`{"account":{` + keys + `},"accounts":[{"type":"solana","accountAddress":"A"}],` + operation + `}`,
		`{"account":{"type":"kernel-v3.1-ecdsa",` + keys + `},` + operation + `}`,
		`{` + operation + `}`,
	} {
		if got, err := integrity.Prepare(doc(t, body)); err == nil && got == want {
			t.Errorf("%s passes", body)
		}
	}
}

// FuzzPrepare: no document makes the digest panic, and what a client writes anew keeps it.
func FuzzPrepare(f *testing.F) {
	for _, k := range kinds() {
		f.Add(k.body, uint64(1))
	}
	f.Add(`{"account":null,"accounts":[{}],"chainOperation":{"type":"solana","signature":{}}}`, uint64(2))
	f.Fuzz(func(t *testing.T, s string, seed uint64) {
		d, err := api.ParseDocument([]byte(s), api.DefaultLimits())
		if err != nil {
			return
		}
		a, errA := integrity.Prepare(d)
		canonical, err := d.Canonical()
		if err != nil {
			return
		}
		again, err := api.ParseDocument(canonical, api.DefaultLimits())
		if err != nil {
			return
		}
		b, errB := integrity.Prepare(again)
		if errA == nil && errB == nil && a != b {
			t.Error("canonical writing changed the digest")
		}
		if errA == nil && errB != nil {
			t.Errorf("canonical writing lost the digest: %v", errB)
		}
	})
}
