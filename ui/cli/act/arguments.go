package act

import (
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/wallet/intent"
)

// input is the data of the call.
func (a *asked) input(cat *catalog.Catalog, chain caip.Chain, c *intent.Call) error {
	switch {
	case a.function != "" && a.data != "":
		return usage("", "--function and --data both make the call data: give one")
	case a.function == "" && len(a.args) > 0:
		return usage("", "--arg needs --function")
	case a.function == "":
		b, err := hex.DecodeString(strings.TrimPrefix(a.data, "0x"))
		if err != nil || a.data != "" && !strings.HasPrefix(a.data, "0x") {
			return usage("", "--data takes 0x and an even number of hexadecimal digits")
		}
		if len(b) > 0 {
			c.Data = "0x" + hex.EncodeToString(b)
		}
		return refuseGrants(c.Data)
	}
	fn, err := abicall.ParseSignature(a.function)
	if err != nil {
		return usage("", "--function: %s", clean(err.Error()))
	}
	inputs := fn.Inputs()
	if len(a.args) != len(inputs) {
		return usage("one --arg for each", "%s takes %d arguments, %d were given", clean(fn.String()), len(inputs),
			len(a.args))
	}
	values := fn.Empty()
	for i, p := range inputs {
		if values[i], err = argument(cat, chain, p, a.args[i]); err != nil {
			return err
		}
	}
	data, err := fn.Encode(values)
	if err != nil {
		return usage("", "these arguments make no call: %s", clean(err.Error()))
	}
	c.Data = "0x" + hex.EncodeToString(data)
	if s := fn.String(); len(s) <= maxFunction && clean(s) == s {
		c.Function = s
	}
	return refuseGrants(c.Data)
}

// refuseGrants refuses functions that grant rights over tokens: the user declares those as allowances, which are taken
// back.
func refuseGrants(data string) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(data, "0x"))
	if err == nil && api.ApprovalName(raw) != "" {
		return usage(`for instance --allow "250 USDC"`,
			"that call gives away rights, or cannot be read to its end: declare what may be taken with --allow")
	}
	return nil
}

// argument reads one --arg.
func argument(cat *catalog.Catalog, chain caip.Chain, p abicall.Param, s string) (abicall.Value, error) {
	if p.IsArray() || p.IsTuple() {
		v, ok := listed(p, jsontext.Value(s))
		if !ok {
			return v, usage(`for instance --arg '["0x…", "5"]'`,
				"--arg %s: a list or a tuple is JSON with every value as text", clean(p.Name))
		}
		return v, nil
	}
	if figure, symbol, ok := strings.Cut(s, " "); ok && strings.HasPrefix(p.Type, "uint") {
		e, known := entityNamed(cat, symbol, chain)
		v, err := amount.Parse(figure, e.Decimals)
		if !known || err != nil {
			return abicall.Value{}, usage("", "--arg %s: %q is no amount of an asset of this chain", clean(p.Name),
				clean(s))
		}
		return abicall.Value{Text: v.String()}, nil
	}
	return abicall.Value{Text: s}, nil
}

// listed reads a list or a tuple from JSON in which every leaf is text, or true or false.
func listed(p abicall.Param, raw jsontext.Value) (abicall.Value, bool) {
	if !p.IsArray() && !p.IsTuple() {
		if k := raw.Kind(); p.Type == "bool" && (k == 't' || k == 'f') {
			return abicall.Value{Text: string(raw)}, true
		}
		if raw.Kind() != '"' {
			return abicall.Value{}, false
		}
		b, err := jsontext.AppendUnquote(nil, raw)
		return abicall.Value{Text: string(b)}, err == nil
	}
	items, ok := listItems(raw)
	if !ok || p.IsTuple() && len(items) != len(p.Components) {
		return abicall.Value{}, false
	}
	out := abicall.Value{Items: make([]abicall.Value, len(items))}
	for i, it := range items {
		member := p.Elem
		if p.IsTuple() {
			member = &p.Components[i]
		}
		if out.Items[i], ok = listed(*member, it); !ok {
			return out, false
		}
	}
	return out, true
}

// listItems are the items of a JSON list.
func listItems(raw jsontext.Value) ([]jsontext.Value, bool) {
	var items []jsontext.Value
	if raw.Kind() != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	return items, true
}
