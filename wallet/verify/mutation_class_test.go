package verify_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/verify"
)

// kept is the class of a mutant that means the same as the original: nothing changed but the letter case of hex digits,
// the order of what is a set, or a member that may be left out.
const kept verify.Class = "same meaning"

// freedom is a place where two different texts mean the same, beside the letter case of hex digits and the order of
// object members. Each is read by the verifier in one way only and cannot change what is signed.
type freedom struct{ pattern, why string }

// sets are arrays whose order means nothing.
func sets() []freedom {
	return []freedom{
		{"/accounts", "accounts are compared as a set (P1, Q2)"},
		{"/originToken/assetType", "the assets that pay are compared as a set (Q6)"},
		{"/originChainsOperations", "operations are judged one by one and signed in their own place (Q3)"},
	}
}

// optional are bound members that may be absent: what is absent cannot mislead, and it is never shown.
func optional() []freedom {
	return []freedom{
		{"/destinationToken/decimals", "decimals come from the catalogue; a value must agree (Q7)"},
		{"/destinationToken/symbol", "the symbol comes from the catalogue; a value must agree (Q7)"},
		{"/accounts/*/deploymentType", "ERC4337 is what these account types are without a word (P1)"},
		{"/account/deploymentType", "ERC4337 is what these account types are without a word (P1)"},
		{"/destinationChainOperation/**",
			"the operation was signed before; without the second copy there is only less to compare (Q13)"},
		{"/chainOperation/delegation/**", "less is signed; without code the EOA's operation does nothing (D1)"},
		{"/originChainsOperations/*/delegation/**",
			"less is signed; without code the EOA's operation does nothing (D1)"},
	}
}

// spelled are bound values that have a second spelling.
func spelled() map[string]freedom {
	return map[string]freedom{
		`"ob:single"`: {"/destinationToken/aggregatedAssetId", "names one entity, and the asset type says which (Q7)"},
		`"ERC4337"`:   {"/accounts/*/deploymentType", "what these account types are without a word (P1)"},
	}
}

// rank orders classes by how much they protect; the class of a mutant is the highest of its changes.
func rank(c verify.Class) int {
	return slices.Index([]verify.Class{kept, verify.Display, verify.Opaque, verify.Bounded, verify.Bound}, c)
}

// classify compares a mutant with the original leaf by leaf and returns the class of the change with the patterns that
// it touches.
func (s *specimen) classify(d *api.Document) (verify.Class, []string) {
	if s.flat == nil {
		s.flat = s.flatten(s.base)
	}
	old, now := s.flat, s.flatten(d)
	class, touched := kept, []string(nil)
	note := func(c verify.Class, pattern string) {
		if c != kept && pattern != "" && !slices.Contains(touched, pattern) {
			touched = append(touched, pattern)
		}
		if rank(c) > rank(class) {
			class = c
		}
	}
	for pointer, was := range old {
		if is, there := now[pointer]; !there {
			note(s.lost(pointer, was, now))
		} else if folded := hexData(pointer) && strings.EqualFold(was, is); !folded && !sameMeaning(was, is) {
			note(s.changed(pointer, is))
		}
	}
	for pointer, is := range now {
		if _, there := old[pointer]; !there {
			note(s.changed(pointer, is))
		}
	}
	c, more := s.shown(d)
	note(c, "")
	for _, p := range more {
		note(c, p)
	}
	slices.Sort(touched)
	return class, touched
}

func (s *specimen) changed(pointer, raw string) (verify.Class, string) {
	if pointer == "/destinationChainOperation" && raw == "null" {
		return kept, "" // nothing is as good as not there
	}
	if f, ok := spelled()[raw]; ok && matches([]freedom{f}, strings.Replace(pointer, "/account/", "/accounts/0/", 1)) {
		return kept, ""
	}
	if l, ok := s.leaf(pointer); ok {
		return l.Class, l.Pattern
	}
	if s.strict(pointer) {
		return verify.Bound, "unknown member of an operation"
	}
	return verify.Display, "unknown member"
}

// lost is a leaf that is not there any more. Of what may be left out only as a whole, nothing may be left.
func (s *specimen) lost(pointer, was string, now map[string]string) (verify.Class, string) {
	if was == "false" && (strings.HasSuffix(pointer, "/isSigner") || strings.HasSuffix(pointer, "/isWritable")) {
		return kept, "" // a flag that is not there is not set (S5)
	}
	for _, f := range optional() {
		top, whole := strings.CutSuffix(f.pattern, "/**")
		if !whole && matches([]freedom{f}, pointer) {
			return kept, ""
		}
		if at, inside := below(top, pointer); whole && inside &&
			!slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(p string) bool {
				_, left := below(top, p)
				return left && strings.HasPrefix(p, at+"/")
			}) {
			return kept, ""
		}
	}
	return s.changed(pointer, "")
}

// below reports whether a pointer lies at or below a pattern, and where the pattern ends in it.
func below(pattern, pointer string) (string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(pointer, "/")
	if len(have) < len(want) {
		return "", false
	}
	for i, w := range want {
		if w != "*" && w != have[i] {
			return "", false
		}
	}
	return strings.Join(have[:len(want)], "/"), true
}

const balances = "/sourceAssetBalances"

// flatten lists leaves with the elements of sets in the order of the original. The balances that the service shows are
// no part of it: see shown.
func (s *specimen) flatten(d *api.Document) map[string]string {
	out := map[string]string{}
	order := map[string][]int{}
	for _, f := range sets() {
		if len(elements(d, f.pattern)) > 1 {
			order[f.pattern] = s.sorted(d, f.pattern)
		}
	}
	d.Leaves(func(pointer string, raw []byte) {
		if strings.HasPrefix(pointer, balances+"/") {
			return
		}
		for set, places := range order {
			if rest, inside := strings.CutPrefix(pointer, set+"/"); inside {
				index, more, _ := strings.Cut(rest, "/")
				pointer = set + "/" + number(slices.Index(places, atoi(index)))
				if more != "" {
					pointer += "/" + more
				}
			}
		}
		out[pointer] = string(raw)
	})
	return out
}

// shown compares the balances of two documents: each is only shown, whatever there is of them and in whatever order,
// but for the decimals, which must be those of the asset (P5).
func (s *specimen) shown(d *api.Document) (verify.Class, []string) {
	own, got := elements(s.base, balances), elements(d, balances)
	if slices.Equal(own, got) {
		return kept, nil
	}
	for _, e := range got {
		var b struct {
			AssetType string
			Decimals  json.RawMessage
		}
		if json.Unmarshal([]byte(e), &b) != nil {
			continue
		}
		asset, err := caip.ParseAsset(b.AssetType)
		if known, ok := s.policy.Catalog.Entity(asset); err == nil && ok &&
			string(b.Decimals) != number(known.Decimals) {
			return verify.Bound, []string{balances + "/*/decimals"}
		}
	}
	var touched []string
	for i := range max(len(own), len(got)) {
		if i >= len(own) || i >= len(got) {
			touched = append(touched, balances+"/*/assetType", balances+"/*/balance", balances+"/*/fiatValue")
			continue
		}
		for _, name := range []string{"assetType", "balance", "fiatValue"} {
			at := fmt.Sprintf("%s/%d/%s", balances, i, name)
			was, _ := s.base.At(at)
			is, there := d.At(at)
			if !there || !sameMeaning(string(was), string(is)) {
				touched = append(touched, balances+"/*/"+name)
			}
		}
	}
	return verify.Display, touched
}

// elements are the raw elements of an array, none where there is no array.
func elements(d *api.Document, at string) []string {
	var out []string
	for i := 0; ; i++ {
		raw, there := d.At(at + "/" + number(i))
		if !there {
			return out
		}
		out = append(out, string(raw))
	}
}

// sorted returns the indexes of an array's elements in the order of the original where they stand in it, and then as
// they come.
func (s *specimen) sorted(d *api.Document, at string) []int {
	own := elements(s.base, at)
	places := make([]int, len(own))
	for i := range places {
		places[i] = -1
	}
	var others []int
	for i, e := range elements(d, at) {
		free := -1
		for k, o := range own {
			if o == e && places[k] < 0 {
				free = k
				break
			}
		}
		if free < 0 {
			others = append(others, i)
			continue
		}
		places[free] = i
	}
	for k := range places {
		if places[k] < 0 && len(others) > 0 {
			places[k], others = others[0], others[1:]
		}
	}
	return append(places, others...)
}

// sameMeaning reports whether two JSON values have one reading: equal texts under JSON's escapes, or hex digits in
// another letter case. Base58 and base64 have no second reading.
func sameMeaning(a, b string) bool {
	if a == b {
		return true
	}
	var x, y string
	if a == "null" || b == "null" || json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	if x == y {
		return true
	}
	i, k := strings.LastIndex(x, "0x"), strings.LastIndex(y, "0x")
	return i >= 0 && i == k && x[:i] == y[:i] && (i == 0 || strings.HasPrefix(x, "eip155:")) &&
		strings.EqualFold(x[i:], y[i:])
}

// hexData reports whether a pointer names hex digits without 0x (protocol §3.4).
func hexData(pointer string) bool {
	return strings.Contains(pointer, "/instructions/") && strings.HasSuffix(pointer, "/data")
}

func matches(rows []freedom, pointer string) bool {
	return slices.ContainsFunc(rows, func(f freedom) bool {
		_, ok := verify.FindLeaf([]verify.Leaf{{Pattern: f.pattern}}, pointer)
		return ok
	})
}
