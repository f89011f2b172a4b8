package reviewtest

import (
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// Change is one field of a review with another value. Name is its place without indexes. Wants are forms of the new
// value, one of which a front end that shows it writes; Must says that consent needs it to be shown.
type Change struct {
	Case
	Name  string
	Wants []string
	Must  bool
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// Changes changes every field of the view under confirmation, every finding and every assumed address of case i of All,
// one at a time.
func Changes(i int) []Change {
	var out []Change
	for n := 0; ; n++ {
		c := All()[i]
		w := &walk{left: n}
		switch r := &c.Review; {
		case r.Quote != nil:
			w.visit("quote", reflect.ValueOf(r.Quote).Elem())
		default:
			w.visit("call", reflect.ValueOf(r.Call).Elem())
			for k := range r.Intent.Overrides {
				w.visit("intent.overrides", reflect.ValueOf(&r.Intent.Overrides[k].Address).Elem())
			}
		}
		for k := range c.Review.Report.Reasons {
			x := reflect.ValueOf(&c.Review.Report.Reasons[k]).Elem()
			for _, name := range []string{"Title", "Want", "Got", "Path"} {
				if text := x.FieldByName(name); text.String() != "" {
					w.visit("findings."+strings.ToLower(name), text)
				}
			}
		}
		if w.name == "" {
			return out
		}
		out = append(out, Change{c, indexes.ReplaceAllString(w.name, ""), w.wants, must(All()[i].Review, c.Review)})
	}
}

// must reports whether a fact that differs is mandatory.
func must(a, b consent.Review) bool {
	before := consent.Facts(a)
	return slices.ContainsFunc(consent.Facts(b), func(f consent.Fact) bool {
		at := slices.IndexFunc(before, func(x consent.Fact) bool { return x.Path == f.Path })
		return at < 0 && f.Mandatory || at >= 0 && before[at].Value != f.Value && (f.Mandatory || before[at].Mandatory)
	})
}

// walk changes the leaf with a number.
type walk struct {
	left  int
	name  string
	wants []string
}

func (w *walk) visit(path string, v reflect.Value) {
	if w.name != "" {
		return
	}
	switch v.Interface().(type) {
	case *big.Int:
		w.leaf(path, []string{"987654321", "98765"}, func() { v.Set(reflect.ValueOf(big.NewInt(987_654_321))) })
		return
	case time.Time:
		w.leaf(path, []string{"191432"},
			func() { v.Set(reflect.ValueOf(Begin().Add(7*time.Hour + 13*time.Minute + 29*time.Second))) })
		return
	case caip.Asset:
		a := caip.ERC20(8453, common.HexToAddress(other))
		w.leaf(path, []string{other}, func() { v.Set(reflect.ValueOf(a)) })
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.visit(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.visit(path+"["+strconv.Itoa(i)+"]", v.Index(i))
		}
	case reflect.Struct:
		if a, is := v.Interface().(verify.AmountView); is && a.Amount == nil {
			w.visit(path+".Amount", v.FieldByName("Amount"))
			return
		}
		for i := range v.NumField() {
			if l, is := v.Interface().(verify.CallView); is && l.Recipient == "" &&
				v.Type().Field(i).Name == "FirstTime" {
				continue // nobody receives anything
			}
			w.visit(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.String:
		to := "Zq7Distinct"
		switch old := v.String(); {
		case common.IsHexAddress(old):
			to = other
		case strings.HasPrefix(old, "0x"):
			to = "0x" + strings.Repeat("c0ffee42", 8)
		}
		w.leaf(path, []string{to}, func() { v.SetString(to) })
	case reflect.Bool:
		w.leaf(path, nil, func() { v.SetBool(!v.Bool()) })
	case reflect.Int:
		w.leaf(path, []string{"4321"}, func() { v.SetInt(4321) })
	case reflect.Uint64:
		w.leaf(path, []string{"987654"}, func() { v.SetUint(987_654) })
	}
}

const other = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

func (w *walk) leaf(path string, wants []string, set func()) {
	if w.left == 0 {
		set()
		w.name, w.wants = path, wants
	}
	w.left--
}

// Squash keeps the letters and digits of a text: no line is wrapped, nothing is grouped.
func Squash(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text))
}

// unseen are the fields that no front end has to show, with the reason.
func unseen() map[string]string {
	out := map[string]string{
		"call.Chain.ID": "the name of the chain is shown", "call.Chain.Short": "the name of the chain is shown",
		"call.Chain.CAIP":                          "the catalogue has one name for it, which is shown",
		"call.Delegation.Chain.ID":                 "its CAIP-2 id is shown",
		"call.Delegation.Chain.Short":              "its CAIP-2 id is shown",
		"quote.Legs.Chain.ID":                      "the name of the chain is shown",
		"quote.Legs.Chain.Short":                   "the name of the chain is shown",
		"quote.Legs.Chain.CAIP":                    "the catalogue has one name for it, which is shown",
		"quote.Legs.Delegation.Chain.ID":           "its CAIP-2 id is shown",
		"quote.Legs.Delegation.Chain.Short":        "its CAIP-2 id is shown",
		"call.Lines.Amount.Micro":                  "the value of all that leaves is shown",
		"call.Requires.Micro":                      "the value of all that leaves is shown",
		"quote.Needs.Need.Micro":                   "the values of the delivery and of the payments are shown",
		"quote.Legs.Parts.Amount.Micro":            "the value of the payment and the part's share of it are shown",
		"quote.Promise.Minimums.Micro":             "the value of the delivery is shown",
		"quote.Minimum.Micro":                      "the value of the delivery, which is at least that, is shown",
		"call.Requires.Symbol":                     "that of the request is shown",
		"call.Requires.Decimals":                   "those of the request are shown",
		"quote.Legs.Solana.Instructions.Args.Type": "it decides how the value is written",
		"call.Lines.Index":                         "its place in the list",
		"call.Signatures":                          "the delegation and the call are both shown",
		"call.Worst.Amount":                        "review 2 states the worst case of all signatures",
		"call.Worst.Micro":                         "review 2 states the worst case of all signatures",
		"call.Worst.Symbol":                        "review 2 states the worst case of all signatures",
		"call.Worst.Decimals":                      "review 2 states the worst case of all signatures",
		"call.CallType":                            "it is shown in words",
		"quote.Kind":                               "the title has the kind of the request",
		"quote.Expires":                            "the deadline stands beside every confirmation",
		"quote.MinimumCostMicro":                   "a limit is compared with it, and a finding has both",
		"quote.MinimumCostBps":                     "a limit is compared with it, and a finding has both",
		"quote.Legs.Solana.Instructions.Program":   "the name of a known program is shown, or else the program",
	}
	for _, a := range []string{"call.Lines.Amount", "call.Outflow", "call.Requires", "call.Worst", "call.Sources",
		"quote.Legs.Pays", "quote.Legs.Parts.Amount", "quote.Pay", "quote.Worst", "quote.Needs.Need", "quote.Delivered",
		"quote.Minimum", "quote.Fees", "quote.Promise.Minimums"} {
		out[a+".Asset"] = "its symbol, from the catalogue, is shown"
		out[a+".ChainName"] = "the chain of the calls, of the payment or of the recipient is shown"
	}
	return out
}

// inWords are the fields that are shown in other words than their value, with the reason.
func inWords() map[string]string {
	return map[string]string{
		"call.Lines.Role":    "an allowance, or one that is taken back",
		"call.Lines.Decoded": "the bytes are shown instead",
		"quote.CallType":     "what follows from it is shown",
		"quote.Legs.Nonce":   "in hex",
		"call.Nonce":         "in hex",
		"quote.Worst.Amount": "the sum by asset is shown",
		"quote.Worst.Micro":  "the sum of all values is shown",
	}
}

// Drift fails where a front end does not show a fact of a review. face gives the text of a review, the facts that it
// says it has shown, and the text of the pages behind it. Every field of every view is changed: the text must change
// and have the new value in it.
func Drift(t *testing.T, face func(Case) (text string, shown []string, behind string)) {
	t.Helper()
	quiet, words := unseen(), inWords()
	somewhere := map[string]bool{} // fields that need not be shown each time
	for i, c := range All() {
		text, shown, behind := face(c)
		if missing := consent.Unshown(c.Review, shown); len(missing) > 0 {
			t.Errorf("%s: not shown: %v", c.Name, missing)
		}
		for _, x := range Changes(i) {
			now, _, more := face(x.Case)
			// what a finding compared is on the page of checks, which every review names
			elsewhere := !x.Must || strings.HasPrefix(x.Name, "findings.") && x.Name != "findings.title"
			changed, said := now != text || elsewhere && more != behind, x.Wants == nil || words[x.Name] != "" ||
				strings.HasSuffix(x.Name, ".Decimals") // they move the point of a figure
			if all := Squash(now + more); !said {
				said = slices.ContainsFunc(x.Wants, func(s string) bool { return strings.Contains(all, Squash(s)) })
			}
			switch {
			case quiet[x.Name] != "":
			case x.Must && !changed:
				t.Errorf("%s: %s is not shown", c.Name, x.Name)
			case x.Must && !said:
				t.Errorf("%s: %s: none of %v is shown", c.Name, x.Name, x.Wants)
			default:
				somewhere[x.Name] = somewhere[x.Name] || changed && said
			}
		}
	}
	for name, ok := range somewhere {
		if !ok {
			t.Errorf("%s is never shown", name)
		}
	}
}
