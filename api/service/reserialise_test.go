package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// stringify writes a value as JSON.stringify(JSON.parse(text)) of a JavaScript client would that has put the members of
// each object in another order: numbers are doubles in their shortest form, strings escape nothing but quotes,
// backslashes and controls.
func stringify(out *strings.Builder, v any, indent string, order func([]string)) {
	switch v := v.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e21 {
			out.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
		} else {
			out.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
	case string:
		quoteJS(out, v)
	case []any:
		out.WriteString("[")
		for i, e := range v {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString(indent)
			stringify(out, e, indent, order)
		}
		out.WriteString(indent + "]")
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		order(names)
		out.WriteString("{")
		for i, n := range names {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString(indent)
			quoteJS(out, n)
			out.WriteString(":" + indent)
			stringify(out, v[n], indent, order)
		}
		out.WriteString(indent + "}")
	}
}

func quoteJS(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r < ' ':
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// again parses a body and writes it anew.
func again(t *testing.T, body []byte, indent string, order func([]string)) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	stringify(&out, v, indent, order)
	if out.String() == string(body) {
		t.Fatal("nothing has changed")
	}
	return out.String()
}

// reWhole finds the whole numbers of a document in which no text looks like one.
var reWhole = regexp.MustCompile(`([:,\[])(-?[0-9]+)([,}\]])`)

// A client that parses and writes every document anew, with its members in another order, passes at every step, with
// each kind of account.
func TestAClientThatWritesDocumentsAnewPasses(t *testing.T) {
	rotate := func(s []string) { s[0], s[len(s)-1] = s[len(s)-1], s[0] }
	for _, style := range []struct {
		name, indent string
		order        func([]string)
		doubles      bool
	}{{"reversed", "", slices.Reverse[[]string], false}, {"rotated and spread out", "\n\t ", rotate, false},
		{"numbers as doubles", "", slices.Reverse[[]string], true}} {
		for _, kind := range []string{api.AccountKernelV31, api.AccountRoleBased,
			api.AccountKernelV33 + settletest.WithSolana} {
			for _, v1 := range []bool{true, false} {
				if v1 && strings.HasSuffix(kind, settletest.WithSolana) {
					continue
				}
				t.Run(fmt.Sprintf("%s %s v1=%t", style.name, kind, v1), func(t *testing.T) {
					c := newClient(t, open(t, options(storetest.New(t))), kind, 31)
					c.v1 = v1
					anew := func(body string) string {
						body = again(t, []byte(body), style.indent, style.order)
						if style.doubles {
							body = reWhole.ReplaceAllString(body, "$1$2.0$3")
						}
						return body
					}
					prepared := c.sign(c.prepare(anew(c.transfer(300_000_000))), "/chainOperation")
					offer := c.ask("POST", c.callQuotePath(), anew(c.callQuoteBody(prepared, "ob:usdc")))
					signed, id := c.signAll(offer)
					c.ask("POST", c.executePath(), anew(string(signed.Raw())))
					if err := c.s.Idle(t.Context()); err != nil {
						t.Fatal(err)
					}
					c.done(c.status(id), api.RecordCall)
					swap, id := c.exchange(anew(c.swap("ob:eth", "5000000000000000", "ob:usdc", "")))
					c.ask("POST", c.executePath(), anew(string(swap.Raw())))
					if err := c.s.Idle(t.Context()); err != nil {
						t.Fatal(err)
					}
					c.done(c.status(id), api.RecordSwap)
				})
			}
		}
	}
}

// The same re-serialiser cannot hide a change: one more digit, a digit before, letters in another case, another token,
// a member less.
func TestAClientThatChangesWhileWritingAnewIsRefused(t *testing.T) {
	bothVersions(t, api.AccountRoleBased, func(t *testing.T, c *client) {
		signed, id := c.exchange(c.swap("ob:eth", "5000000000000000", "ob:usdc", ""))
		var q map[string]any
		if err := json.Unmarshal(signed.Raw(), &q); err != nil {
			t.Fatal(err)
		}
		token := q["destinationToken"].(map[string]any)
		for _, change := range []func(){
			func() { token["amount"] = token["amount"].(string) + "0" },
			func() { token["fiatValue"] = "1" + token["fiatValue"].(string) },
			func() { token["assetType"] = strings.ReplaceAll(token["assetType"].(string), "a", "A") },
			func() { token["assetType"] = "eip155:8453/erc20:" + recipient },
			func() { delete(token, "minimumAmount") },
		} {
			kept := maps.Clone(token)
			change()
			var out strings.Builder
			stringify(&out, q, "", slices.Reverse[[]string])
			c.denied(c.executePath(), out.String(), api.ErrTamperProof)
			clear(token)
			maps.Copy(token, kept)
		}
		c.done(c.finish(signed, id), api.RecordSwap)
	})
}
