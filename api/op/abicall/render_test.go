package abicall_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"coffer/api/op/abicall"
)

func TestEmptyFormHasTheShapeOfTheFunction(t *testing.T) {
	f := parse(t, "f((uint8 a, bool[2] b) x, bytes[] y, string z)")
	want := []abicall.Value{list(abicall.Value{}, list(text("", "")...)), {}, {}}
	if got := f.Empty(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := abicall.EmptyValue(f.Inputs()[0]); !reflect.DeepEqual(got, want[0]) {
		t.Errorf("%+v", got)
	}
}

func TestFormatAndLinesShowEveryField(t *testing.T) {
	f := parse(t, "f((uint8 a, string s)[] items, uint256)")
	values := []abicall.Value{list(list(text("1", `say "hi"`)...)), {Text: "7"}}
	if got, want := f.Format(values), `f(items [(a 1, s "say \x22hi\x22")], 7)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	lines := f.Lines(values)
	want := []abicall.Line{
		{Depth: 0, Label: "items", Type: "(uint8,string)[]", Text: "1 item"},
		{Depth: 1, Label: "0", Type: "(uint8,string)", Text: "2 items"},
		{Depth: 2, Label: "a", Type: "uint8", Text: "1", Leaf: true},
		{Depth: 2, Label: "s", Type: "string", Text: `say "hi"`, Leaf: true},
		{Depth: 0, Label: "1", Type: "uint256", Text: "7", Leaf: true},
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%+v", lines)
	}
}

func TestKnownFunctionsHaveTheirPublishedSelectors(t *testing.T) {
	known := abicall.Known()
	seen := map[[4]byte]string{}
	for _, f := range known {
		if other, twice := seen[f.Selector()]; twice {
			t.Errorf("%s and %s share a selector", other, f.Signature())
		}
		seen[f.Selector()] = f.Signature()
	}
	for selector, name := range map[string]string{
		"a9059cbb": "transfer", "095ea7b3": "approve", "23b872dd": "transferFrom", "39509351": "increaseAllowance",
		"a22cb465": "setApprovalForAll", "d505accf": "permit", "87517c45": "approve",
		"9517e29f": "installModule", "a71763a8": "uninstallModule", "3659cfe6": "upgradeTo",
		"52141cd9": "changeRootValidator", "9198bdf5": "installValidations", "b9b82941": "grantAccess",
		"1f1b92e3": "invalidateNonce", "98c867ca": "renew", "e9ae5c53": "execute", "d0e30db0": "deposit",
		"2e1a7d4d": "withdraw", "ac9650d8": "multicall",
	} {
		b, err := hex.DecodeString(selector)
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := abicall.Lookup(known, [4]byte(b)); !ok || f.Name() != name {
			t.Errorf("%s: %v %v", selector, f, ok)
		}
	}
	if _, ok := abicall.Lookup(known, [4]byte{1, 2, 3, 4}); ok {
		t.Error("an unknown selector was found")
	}
}
