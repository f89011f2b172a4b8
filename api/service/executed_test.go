package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/openapi"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// genuine is a signed quote as the service gave it, with who may execute it.
type genuine struct {
	name string
	kind string
	c    *client
	doc  *api.Document
	id   string
}

// genuineQuotes are signed quotes of every form: calls of all call types, swaps and transfers, from every kind of
// account, in both versions.
func genuineQuotes(t *testing.T) []genuine {
	t.Helper()
	s := open(t, options(storetest.New(t)))
	var out []genuine
	types := map[string]bool{}
	n := uint64(600)
	add := func(kind string, v1 bool, name string, ask func(c *client) (*api.Document, string)) {
		if n++; testing.Short() && n%6 != 0 {
			return
		}
		c := newClient(t, s, kind, n)
		c.v1 = v1
		doc, id := ask(c)
		out = append(out, genuine{fmt.Sprintf("%s v1=%t %s", kind, v1, name), kind, c, doc, id})
	}
	call := func(amount int64, from string) func(*client) (*api.Document, string) {
		return func(c *client) (*api.Document, string) {
			doc, id, callType := c.callFrom(c.transfer(amount), from)
			types[callType] = true
			return doc, id
		}
	}
	swap := func(from, amount, into, to string) func(*client) (*api.Document, string) {
		return func(c *client) (*api.Document, string) { return c.exchange(c.swap(from, amount, into, to)) }
	}
	for _, kind := range settletest.Kinds() {
		solana := strings.HasSuffix(kind, api.AccountSolana)
		for _, v1 := range []bool{true, false} {
			if v1 && solana {
				continue
			}
			if kind != api.AccountSolana {
				add(kind, v1, "covered call", call(10_000_000, ""))
				add(kind, v1, "funded call", call(300_000_000, "ob:usdc"))
				add(kind, v1, "swapped call", call(60_000_000, "ob:eth"))
				add(kind, v1, "swap", swap("ob:eth", "5000000000000000", "ob:usdc", ""))
				add(kind, v1, "transfer", swap("ob:usdc", "40000000", "ob:usdc", "eip155:10:"+recipient))
			}
			if solana {
				add(kind, v1, "swap of SOL", swap(solSOL, "1000000000", opUSDC, "eip155:10:"+recipient))
				add(kind, v1, "transfer from Solana", swap(solUSDC, "40000000", "ob:usdc", "eip155:8453:"+recipient))
			}
		}
	}
	add(api.AccountKernelV31, false, "call paid on its own chain", func(c *client) (*api.Document, string) {
		body := fmt.Sprintf(
			`{%s,"targetChain":"eip155:10","calls":[{"to":%q}],"tokensRequired":[{"assetType":%q,`+
				`"amount":"300000000"}]}`, c.who(), recipient, opUSDT)
		doc, id, callType := c.callFrom(body, opUSDC)
		types[callType] = true
		return doc, id
	})
	for _, want := range []string{api.CallSameChainExcludeSolver, api.CallSameChainWithSolver, api.CallCrossChain,
		api.CallCrossChainSwaps} {
		if !types[want] && !testing.Short() {
			t.Errorf("no quote has callType %s", want)
		}
	}
	return out
}

const opUSDT = "eip155:10/erc20:0x94b008aA00579c1307B0EF2c499aD98a8ce58e58"

// callFrom quotes a call that is paid with an asset, by its aggregate or (v3) its CAIP-19 name; "" is the aggregate of
// USDC.
func (c *client) callFrom(body, from string) (signed *api.Document, id, callType string) {
	c.t.Helper()
	if from != "" && !c.v1 {
		body = c.put(body, "/fromAssetId", c.json(from))
	}
	prepared := c.prepare(body)
	raw, _ := prepared.At("/callType")
	if err := json.Unmarshal(raw, &callType); err != nil {
		c.t.Fatal(err)
	}
	ask := c.callQuoteBody(c.sign(prepared, "/chainOperation"), "ob:usdc")
	switch {
	case strings.HasPrefix(from, "ob:"):
		ask = c.put(ask, "/fromAggregatedAssetId", c.json(from))
	case from != "":
		ask = c.put(c.put(ask, "/fromAggregatedAssetId", "null"), "/fromAssetId", c.json(from))
	}
	signed, id = c.signAll(c.ask("POST", c.callQuotePath(), ask))
	return signed, id, callType
}

// describedMember is a described member of a body: where it stands, what it must be, and whether it must be there.
type describedMember struct {
	pointer  string
	schema   map[string]any
	required bool
	there    bool
	element  bool // of an array, or a value of a map
}

// described lists the members that the description knows of a value, in it or absent.
func (d *description) described(schema map[string]any, v any, at string, out *[]describedMember) {
	if ref, ok := schema["$ref"].(string); ok {
		_, schema = d.component(ref)
	}
	required := map[string]bool{}
	demand := func(s map[string]any) {
		list, _ := s["required"].([]any)
		for _, name := range list {
			required[name.(string)] = true
		}
	}
	o, _ := v.(map[string]any)
	demand(schema)
	variants, _ := schema["oneOf"].([]any)
	for _, x := range variants {
		form := x.(map[string]any)
		if _, component := form["$ref"]; component { // an operation
			if (o["type"] == "solana") == strings.HasSuffix(form["$ref"].(string), "SolanaChainOperation") {
				d.described(form, v, at, out)
			}
		} else if object(object(form, "properties"), "type")["const"] == o["type"] { // an account
			demand(form)
		}
	}
	for name, p := range object(schema, "properties") {
		inner, there := o[name]
		to := at + "/" + name
		*out = append(*out, describedMember{to, p.(map[string]any), required[name], there, false})
		if there {
			d.described(p.(map[string]any), inner, to, out)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		for i, x := range v.([]any) {
			d.described(items, x, at+"/"+strconv.Itoa(i), out)
			*out = append(*out, describedMember{at + "/" + strconv.Itoa(i), items, false, true, true})
		}
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			to := at + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			d.described(values, o[name], to, out)
			*out = append(*out, describedMember{to, values, false, true, true})
		}
	}
}

// membersOf lists the described members of an execute body.
func membersOf(t *testing.T, d *description, g genuine) []describedMember {
	t.Helper()
	var out []describedMember
	i := slices.IndexFunc(openapi.Endpoints(), func(e openapi.Endpoint) bool { return e.Path == g.c.executePath() })
	d.described(d.bodyOf(openapi.Endpoints()[i]), value(t, g.doc.Raw()), "", &out)
	return out
}

// without is a body without the member at a pointer.
func without(t *testing.T, body []byte, pointer string) string {
	t.Helper()
	root := value(t, body)
	at, parts := root, strings.Split(pointer, "/")[1:]
	for _, p := range parts[:len(parts)-1] {
		p = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
		if list, ok := at.([]any); ok {
			i, err := strconv.Atoi(p)
			if err != nil {
				t.Fatal(err)
			}
			at = list[i]
			continue
		}
		at = at.(map[string]any)[p]
	}
	delete(at.(map[string]any), parts[len(parts)-1])
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// faultsOf posts a body that must be a validation failure and returns the places of its faults.
func (c *client) faultsOf(what, body string) []string {
	c.t.Helper()
	status, raw := c.send("POST", c.executePath(), body)
	var e api.Error
	if err := json.Unmarshal(raw, &e); err != nil || status != 400 || e.Name != api.ErrValidation {
		c.t.Errorf("%s: %v %d %s", what, err, status, raw)
		return nil
	}
	var out []string
	for _, f := range e.Details {
		out = append(out, f.Path)
	}
	return out
}

// isSignaturePlace reports whether the client fills the member in: its absence is told in words of its own.
func isSignaturePlace(pointer string) bool { return strings.HasSuffix(pointer, "/signature") }

func TestEveryRequiredMemberOfAnExecuteBodyIsDemanded(t *testing.T) {
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	demanded := 0
	for _, g := range genuineQuotes(t) {
		t.Run(g.name, func(t *testing.T) {
			g.c.t = t
			for _, m := range membersOf(t, d, g) {
				if !m.there {
					if m.required {
						t.Errorf("the quote has no %s", m.pointer)
					}
					continue
				}
				if !m.required {
					continue
				}
				demanded++
				if got := g.c.faultsOf("without "+m.pointer, without(t, g.doc.Raw(), m.pointer)); !slices.Equal(got,
					[]string{place(m.pointer)}) {
					t.Errorf("without %s: faults at %q", m.pointer, got)
				}
				if got := g.c.faultsOf("null at "+m.pointer,
					string(g.c.splice(g.doc, m.pointer, "null").Raw())); !slices.Equal(got,
					[]string{place(m.pointer)}) {
					t.Errorf("null at %s: faults at %q", m.pointer, got)
				}
			}
		})
	}
	if demanded < 1000 && !testing.Short() {
		t.Errorf("only %d members were taken away", demanded)
	}
}

// What breaks the pattern, enumeration or bounds of a member is told at its place, and what keeps them is a change of a
// signed document.
func TestEveryFormOfAnExecuteBodyIsChecked(t *testing.T) {
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	index, done := regexp.MustCompile(`/[0-9]+`), map[string]bool{}
	for _, g := range genuineQuotes(t) {
		t.Run(g.name, func(t *testing.T) {
			g.c.t = t
			for _, m := range membersOf(t, d, g) {
				like := g.kind + g.c.executePath() + index.ReplaceAllString(m.pointer, "/*")
				if !m.there || done[like] {
					continue
				}
				done[like] = true
				raw, _ := g.doc.At(m.pointer)
				for _, bad := range broken(m.schema, raw) {
					if got := g.c.faultsOf(m.pointer+" as "+bad,
						string(g.c.splice(g.doc, m.pointer, bad).Raw())); !slices.Contains(got, place(m.pointer)) {
						t.Errorf("%s as %s: faults at %q", m.pointer, bad, got)
					}
				}
			}
		})
	}
}

// broken are values of a member's type that its description excludes.
func broken(schema map[string]any, was []byte) (out []string) {
	if least, ok := schema["minimum"].(json.Number); ok {
		n, _ := least.Int64()
		out = append(out, strconv.FormatInt(n-1, 10), "1.5")
	}
	if most, ok := schema["maximum"].(json.Number); ok {
		n, _ := most.Int64()
		out = append(out, strconv.FormatInt(n+1, 10))
	}
	var s string
	if json.Unmarshal(was, &s) != nil {
		return out
	}
	fits := func(string) bool { return true }
	if pattern, ok := schema["pattern"].(string); ok {
		fits = regexp.MustCompile(pattern).MatchString
	}
	if list, ok := schema["enum"].([]any); ok {
		fits = func(s string) bool { return slices.Contains(list, any(s)) }
	}
	for _, bad := range []string{"", "x", "0x", "0x1", "0x12", "-1", "1e3", "00" + s, s + "!", " " + s, s + "\n",
		strings.ToUpper(s), strings.ReplaceAll(s, ".", ",")} {
		if !fits(bad) {
			quoted, _ := json.Marshal(bad)
			out = append(out, string(quoted))
		}
	}
	return out
}

// A quote comes back as it was answered, or as a client writes it that parses it first, and passes. An optional member
// that is taken away or made null, and a member that nobody knows, are changes of a signed document and no faults of
// its form.
func TestGenuineQuotesPassAndOptionalMembersAreNoMatterOfForm(t *testing.T) {
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range genuineQuotes(t) {
		t.Run(g.name, func(t *testing.T) {
			g.c.t = t
			for _, m := range membersOf(t, d, g) {
				if m.required || m.element || isSignaturePlace(m.pointer) ||
					strings.Contains(m.pointer, "/delegation/signature") {
					continue
				}
				if m.there {
					g.c.denied(g.c.executePath(), without(t, g.doc.Raw(), m.pointer), api.ErrTamperProof)
				}
				g.c.denied(g.c.executePath(), g.c.put(string(g.doc.Raw()), m.pointer, "null"), api.ErrTamperProof)
			}
			g.c.denied(g.c.executePath(), g.c.put(string(g.doc.Raw()), "/unknown", `"0x"`), api.ErrTamperProof)
			body := string(g.doc.Raw())
			if i%2 == 0 {
				body = again(t, g.doc.Raw(), "", slices.Reverse[[]string])
			}
			g.c.ask("POST", g.c.executePath(), body)
			if err := g.c.s.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := g.c.status(g.id); got.Status != api.StatusCompleted {
				t.Errorf("%+v", got)
			}
		})
	}
}
