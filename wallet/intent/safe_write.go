package intent

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/abicall"
)

// safeBatch is the file that ToSafe writes; the checksum is put in last.
type safeBatch struct {
	Version      string      `json:"version"`
	ChainID      string      `json:"chainId"`
	CreatedAt    int64       `json:"createdAt"`
	Meta         safeMeta    `json:"meta"`
	Transactions []safeEntry `json:"transactions"`
}

type safeMeta struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Safe        string `json:"createdFromSafeAddress"`
	Owner       string `json:"createdFromOwnerAddress"`
}

type safeEntry struct {
	To     string             `json:"to"`
	Value  string             `json:"value"`
	Data   string             `json:"data"`
	Method *safeMethod        `json:"contractMethod"`
	Values *map[string]string `json:"contractInputsValues"`
}

// ToSafe writes the calls of a draft as a batch file of the Safe Transaction Builder, with its checksum; created is
// when. The data of every call is in the file and is what counts; a method with values stands beside it where the
// call's Function describes the data exactly, so that a person can read it.
//
// A batch has calls on one chain and nothing else. What says who pays and how much stays behind (network, accounts,
// tokensRequired, fundWith, slippageBps, overrides), and so do notes; what changes when or with which rights the calls
// run cannot, so a draft with allowances, validAfter or validUntil is refused, and so is a swap or a transfer. The
// error is an *Error with every failure and its place in the draft.
func ToSafe(d Draft, created time.Time) ([]byte, error) {
	chain, failures := checkBatch(d)
	if len(failures) > 0 {
		return nil, &Error{Failures: failures}
	}
	b := safeBatch{Version: safeVersion, ChainID: strconv.FormatUint(chain, 10), CreatedAt: created.UnixMilli(),
		Meta: safeMeta{Name: "Transactions Batch"}}
	for _, c := range d.Calls {
		b.Transactions = append(b.Transactions, entryOf(c))
	}
	doc, err := api.Encode(b)
	if err != nil {
		return nil, fmt.Errorf("write safe batch: %w", err)
	}
	sum, err := safeChecksum(doc)
	if err != nil {
		return nil, fmt.Errorf("write safe batch: %w", err)
	}
	if doc, err = doc.Splice(api.Edit{Pointer: "/meta/checksum", Value: []byte(strconv.Quote(sum))}); err != nil {
		return nil, fmt.Errorf("write safe batch: %w", err)
	}
	out := jsontext.Value(doc.Raw())
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("write safe batch: %w", err)
	}
	return append(out, '\n'), nil
}

// checkBatch finds out what keeps the draft from being a batch, and returns its chain.
func checkBatch(d Draft) (uint64, []api.Failure) {
	var fs []api.Failure
	fail := func(path, expected, got string) { fs = append(fs, failure(path, expected, got)) }
	if d.Kind != "" && d.Kind != KindCall {
		fail("kind", "call: a batch has calls only", d.Kind)
	}
	chain, err := caip.ParseChain(d.TargetChain)
	id, evm := chain.EVMID()
	if err != nil || !evm {
		fail("targetChain", "an EVM chain", d.TargetChain)
	}
	if n := len(d.Calls); n < 1 || n > api.MaxListed {
		fail("calls", fmt.Sprintf("1 to %d calls", api.MaxListed), strconv.Itoa(n))
	}
	if len(d.Allowances) > 0 {
		fail("allowances", "none: a batch cannot take them back", "allowances")
	}
	if d.ValidAfter != "" {
		fail("validAfter", "nothing: a batch has no time", d.ValidAfter)
	}
	if d.ValidUntil != "" {
		fail("validUntil", "nothing: a batch has no time", d.ValidUntil)
	}
	for i, c := range d.Calls {
		path := "calls[" + strconv.Itoa(i) + "]"
		if _, err := caip.ParseAddress(c.To); err != nil || caip.CheckEIP55(c.To) != nil {
			fail(path+".to", "an address in lower case or with a correct checksum", c.To)
		}
		if _, ok := api.ParseWei(c.Value); !ok || !reDecimal.MatchString(c.Value) {
			fail(path+".value", "wei as a decimal string", c.Value)
		}
		if c.Data != "" && !reData.MatchString(c.Data) {
			fail(path+".data", "call data: 0x and an even number of hexadecimal digits", c.Data)
		}
	}
	return id, fs
}

func entryOf(c Call) safeEntry {
	e := safeEntry{To: c.To, Value: c.Value, Data: c.Data}
	if e.Value == "" {
		e.Value = "0"
	}
	if e.Data == "" {
		e.Data = "0x"
		return e
	}
	f, err := abicall.ParseSignature(c.Function)
	data, bad := hex.DecodeString(strings.TrimPrefix(c.Data, "0x"))
	if err != nil || bad != nil {
		return e
	}
	values, err := f.Decode(data)
	if err != nil {
		return e
	}
	wei, _ := new(big.Int).SetString(e.Value, 10)
	method := safeMethod{Name: f.Name(), Inputs: inputsOf(f.Inputs()), Payable: wei.Sign() > 0}
	given := map[string]string{}
	for i, p := range f.Inputs() {
		given[inputName(p, i)] = valueText(p, values[i], true)
	}
	if !readsBack(method, given, c.Data) {
		return e
	}
	e.Method, e.Values = &method, &given
	return e
}

// readsBack reports whether method and values come back as the same call. They do not where a string has bytes that
// JSON cannot carry or two inputs have one name; the data alone is written then.
func readsBack(m safeMethod, given map[string]string, data string) bool {
	method, err := json.Marshal(m)
	if err != nil {
		return false
	}
	values, err := json.Marshal(given)
	if err != nil {
		return false
	}
	r, c := &safeReader{}, Call{}
	r.input("", safeTransaction{Method: method, Values: values}, nil, &c)
	return len(r.failures) == 0 && strings.EqualFold(c.Data, data)
}

// inputsOf writes parameters as ABI entries.
func inputsOf(params []abicall.Param) []safeInput {
	out := make([]safeInput, len(params))
	for i, p := range params {
		base, suffix := p, ""
		for base.IsArray() {
			n := ""
			if base.Length >= 0 {
				n = strconv.Itoa(base.Length)
			}
			base, suffix = *base.Elem, "["+n+"]"+suffix
		}
		in := safeInput{Name: p.Name, Type: base.Type + suffix}
		if base.IsTuple() {
			in.Type, in.Components = "tuple"+suffix, inputsOf(base.Components)
		}
		in.InternalType = in.Type
		out[i] = in
	}
	return out
}

// valueText writes a decoded value the way the builder's form takes it: a leaf as it is, arrays and tuples as JSON
// lists of strings.
func valueText(p abicall.Param, v abicall.Value, top bool) string {
	switch {
	case p.IsArray() || p.IsTuple():
		parts := make([]string, len(v.Items))
		for i, it := range v.Items {
			member := p.Elem
			if p.IsTuple() {
				member = &p.Components[i]
			}
			parts[i] = valueText(*member, it, false)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case top:
		return plainText(p, v.Text)
	case p.Type == "bool":
		return v.Text
	}
	quoted, err := jsontext.AppendQuote(nil, plainText(p, v.Text))
	if err != nil {
		return `""`
	}
	return string(quoted)
}

// plainText undoes the escapes of a form that stand for visible text: \\, \n, \r and \t. Others stay, and the value
// does not read back.
func plainText(p abicall.Param, s string) string {
	if p.Type != "string" {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(s)
}
