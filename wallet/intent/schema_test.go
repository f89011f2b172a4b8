package intent_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coffer/wallet/intent"
)

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(intent.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:coffer:intent:1", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:coffer:intent:1")
	if err != nil {
		t.Fatal(err)
	}
	if s.DraftVersion != 2020 {
		t.Fatalf("draft %d", s.DraftVersion)
	}
	return s
}

func validate(s *jsonschema.Schema, file []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestEveryAcceptedDraftIsValidUnderTheSchema(t *testing.T) {
	s := compiled(t)
	empty := swap()
	empty.Calls = []intent.Call{}
	for name, d := range map[string]intent.Draft{
		"call": draft(), "all": withAll(), "v1": v1(draft()), "swap": swap(), "swap v1": v1(swap()),
		"transfer": transfer(), "empty": empty,
	} {
		frozen, err := json.Marshal(freeze(t, d))
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range [][]byte{frozen, written} {
			if err := validate(s, file); err != nil {
				t.Errorf("%s: %s: %v", name, file, err)
			}
		}
	}
	spelled := `{"version":1,"kind":"swap","interface":"v3","network":"` + draft().Network +
		`","accounts":[{"type":"solana","accountAddress":"` + solana + `","signerAddress":""}],` +
		`"targetChain":"","calls":[],"tokensRequired":[],"allowances":[],"fundWith":"","slippageBps":0,` +
		`"validAfter":"","validUntil":"","overrides":[],` +
		`"pay":{"asset":"ob:usdc","amount":"1"},"receive":{"asset":"ob:sol","account":"","minimum":""}}`
	if _, err := intent.Parse([]byte(spelled), rules(t)); err != nil {
		t.Fatal(err)
	}
	if err := validate(s, []byte(spelled)); err != nil {
		t.Error(err)
	}
}

func TestTheSchemaRefusesWhatItCanSay(t *testing.T) {
	s := compiled(t)
	for name, change := range map[string]func(d *intent.Draft){
		"version":             func(d *intent.Draft) { d.Version = 2 },
		"kind":                func(d *intent.Draft) { d.Kind = "bridge" },
		"call that pays":      func(d *intent.Draft) { d.Pay = swap().Pay },
		"no calls":            func(d *intent.Draft) { d.Calls = nil },
		"network":             func(d *intent.Draft) { d.Network = "0x1" },
		"address":             func(d *intent.Draft) { d.Calls[0].To = "0x1" },
		"EVM account":         func(d *intent.Draft) { d.Accounts[0].AccountAddress = solana },
		"swap with calls":     func(d *intent.Draft) { *d = swap(); d.Calls = draft().Calls },
		"swap without pay":    func(d *intent.Draft) { *d = swap(); d.Pay = nil },
		"swap of nothing":     func(d *intent.Draft) { *d = swap(); d.Pay.Amount = "0" },
		"slot":                func(d *intent.Draft) { d.Overrides[0].StateDiff = map[string]string{"0x1": "0x1"} },
		"aggregate in a need": func(d *intent.Draft) { d.TokensRequired[0].AssetType = "ob:usdc" },
	} {
		d := draft()
		change(&d)
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if validate(s, b) == nil {
			t.Errorf("%s: %s is valid", name, b)
		}
	}
	if validate(s, []byte(`{"version":1,"targetChain":"eip155:1","calls":[{"to":"`+to+`","gas":"1"}]}`)) == nil {
		t.Error("an unknown member is valid")
	}
}

// TestTheSchemaHasTheMembersOfTheDraft walks schema and Go types side by side: the same names, the right JSON types,
// nothing open.
func TestTheSchemaHasTheMembersOfTheDraft(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(intent.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	var walk func(path string, node map[string]any, typ reflect.Type)
	walk = func(path string, node map[string]any, typ reflect.Type) {
		if ref, ok := node["$ref"].(string); ok {
			walk(path, defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), typ)
			return
		}
		switch typ.Kind() {
		case reflect.Pointer:
			walk(path, node, typ.Elem())
		case reflect.Slice:
			if node["type"] != "array" {
				t.Fatalf("%s: %v for an array", path, node["type"])
			}
			walk(path+"[]", node["items"].(map[string]any), typ.Elem())
		case reflect.Struct:
			properties, _ := node["properties"].(map[string]any)
			var want, must []string
			for f := range typ.Fields() {
				name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
				want = append(want, name)
				if options == "" {
					must = append(must, name)
				}
				if p, ok := properties[name].(map[string]any); ok {
					walk(path+"."+name, p, f.Type)
				}
			}
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(properties)); node["additionalProperties"] != false ||
				!slices.Equal(got, want) {
				t.Errorf("%s: the schema has %v, the type %v", path, got, want)
			}
			var required []string
			for _, r := range node["required"].([]any) {
				required = append(required, r.(string))
			}
			if !slices.Equal(required, must) {
				t.Errorf("%s: the schema requires %v, the type always writes %v", path, required, must)
			}
		case reflect.Map:
			if node["type"] != "object" {
				t.Errorf("%s: %v for a map", path, node["type"])
			}
		case reflect.Int:
			if node["type"] != "integer" && node["const"] == nil {
				t.Errorf("%s: %v for an integer", path, node)
			}
		case reflect.String:
			if node["type"] != "string" && node["enum"] == nil && node["anyOf"] == nil {
				t.Errorf("%s: %v for a string", path, node)
			}
		default:
			t.Errorf("%s: no rule for %s", path, typ)
		}
	}
	walk("", root, reflect.TypeFor[intent.Draft]())
	for _, name := range []string{"call", "account", "tokenRequirement", "allowance", "stateOverride", "pay",
		"receive"} {
		if _, ok := defs[name]; !ok {
			t.Errorf("no definition of %s", name)
		}
	}
	changed := intent.Schema()
	changed[0] = 'x'
	if intent.Schema()[0] != '{' {
		t.Error("the schema can be changed")
	}
}
